//! What wgpu calls unsafe: code that it does not look at, caches of the driver's, and what only Vulkan itself can say.

#![allow(unsafe_code)]

use std::borrow::Cow;

use crate::emit::ENTRY;
use crate::features::FloatControls;

/// What Vulkan says of a device beyond wgpu's features and limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct VulkanFacts {
    /// Bytes of the largest heap that is the device's own.
    pub memory_bytes: u64,
    pub uuid: Option<[u8; 16]>,
    pub controls32: FloatControls,
    pub controls64: FloatControls,
}

/// Was Vulkan's loader found, and an instance made?
pub fn has_vulkan(instance: &wgpu::Instance) -> bool {
    #[cfg(not(target_vendor = "apple"))]
    {
        // SAFETY: only asked whether it is there.
        unsafe { instance.as_hal::<wgpu::hal::api::Vulkan>() }.is_some()
    }
    #[cfg(target_vendor = "apple")]
    {
        let _ = instance;
        false
    }
}

/// Nothing for a device of another interface.
#[cfg(not(target_vendor = "apple"))]
pub fn vulkan_facts(adapter: &wgpu::Adapter) -> Option<VulkanFacts> {
    use ash::vk;
    // SAFETY: nothing that it refers to is destroyed here.
    let adapter = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = adapter.shared_instance().raw_instance();
    let device = adapter.raw_physical_device();
    // SAFETY: the device is of the instance, and both are alive while `adapter` is.
    let heaps = unsafe { instance.get_physical_device_memory_properties(device) };
    let own = heaps
        .memory_heaps_as_slice()
        .iter()
        .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    let mut id = vk::PhysicalDeviceIDProperties::default();
    let mut float = vk::PhysicalDeviceFloatControlsProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut id).push_next(&mut float);
    // SAFETY: as above; wgpu asks for Vulkan 1.1 or newer, and what a driver does not know it leaves as it is.
    unsafe { instance.get_physical_device_properties2(device, &mut all) };
    let is = |flag: vk::Bool32| flag == vk::TRUE;
    Some(VulkanFacts {
        memory_bytes: own.map(|heap| heap.size).max().unwrap_or(0),
        uuid: Some(id.device_uuid),
        controls32: FloatControls {
            keeps_nan: is(float.shader_signed_zero_inf_nan_preserve_float32),
            keeps_subnormals: is(float.shader_denorm_preserve_float32),
            rounds_to_even: is(float.shader_rounding_mode_rte_float32),
        },
        controls64: FloatControls {
            keeps_nan: is(float.shader_signed_zero_inf_nan_preserve_float64),
            keeps_subnormals: is(float.shader_denorm_preserve_float64),
            rounds_to_even: is(float.shader_rounding_mode_rte_float64),
        },
    })
}

#[cfg(target_vendor = "apple")]
pub fn vulkan_facts(_adapter: &wgpu::Adapter) -> Option<VulkanFacts> {
    None
}

/// SPIR-V as it is given to the driver.
pub fn spirv_module(device: &wgpu::Device, words: &[u32]) -> wgpu::ShaderModule {
    let description = wgpu::ShaderModuleDescriptorPassthrough {
        entry_points: Cow::Owned(vec![wgpu::PassthroughShaderEntryPoint {
            name: ENTRY.into(),
            workgroup_size: (1, 1, 1),
        }]),
        spirv: Some(words.into()),
        ..Default::default()
    };
    // SAFETY: naga's writer made it of a module that naga's validator took. It reads and writes bindings by indices that the language
    // leaves to the program, as on every device.
    unsafe { device.create_shader_module_passthrough(description) }
}

/// A module that wgpu translates for its interface.
pub fn naga_module(device: &wgpu::Device, module: naga::Module) -> wgpu::ShaderModule {
    let description = wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Naga(Cow::Owned(module)),
    };
    // SAFETY: wgpu validates it and leaves out only its checks of indices and loops; as above, the language leaves indices to the program.
    unsafe { device.create_shader_module_trusted(description, wgpu::ShaderRuntimeChecks::unchecked()) }
}

/// The driver's cache of pipelines, with what an earlier process kept of it.
pub fn pipeline_cache(device: &wgpu::Device, data: Option<&[u8]>) -> wgpu::PipelineCache {
    let description = wgpu::PipelineCacheDescriptor {
        label: None,
        data,
        fallback: true,
    };
    // SAFETY: the bytes are what `PipelineCache::get_data` gave, from a file that only the user writes and whose hash was right.
    unsafe { device.create_pipeline_cache(&description) }
}
