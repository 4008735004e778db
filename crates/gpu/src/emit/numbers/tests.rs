//! Every operation of the IR has an expression or a valid function on every platform; what they compute is tested on a device.

use naga::valid::{ValidationFlags, Validator};
use weft_ir::{AtomicOp, BinOp, CmpOp, Scalar, UnOp};

use super::trial::{self, Trial};
use super::{Number, Numbers};
use crate::features::Features;

/// All operations between types that the device has.
fn all(features: &Features) -> Vec<Number> {
    let has = |s: &Scalar| !s.is_complex() && (features.float64 || *s != Scalar::F64) && (features.int64 || !s.is_int() || s.bits() < 64);
    let scalars: Vec<Scalar> = Scalar::ALL.into_iter().filter(has).collect();
    let mut found = Vec::new();
    for &s in &scalars {
        let counts = scalars.iter().filter(|t| s.is_int() && t.is_int());
        for &t in counts {
            found.extend([BinOp::Shl, BinOp::Shr, BinOp::IntPow].map(|op| Number::Binary(op, s, t)));
        }
        for &to in &scalars {
            found.push(Number::Cast { from: s, to });
            if s.bits() == to.bits() && s != Scalar::Bool && to != Scalar::Bool {
                found.push(Number::Bitcast { from: s, to });
            }
        }
        if s.is_half() {
            continue;
        }
        found.extend(compared().map(|op| Number::Compare(op, s)));
        found.extend(unary(s).iter().map(|&op| Number::Unary(op, s)));
        found.extend(binary(s).iter().map(|&op| Number::Binary(op, s, s)));
        found.extend(atomic(s).iter().map(|&op| Number::Atomic(op, s)));
        if s.is_float() {
            found.push(Number::Fma(s));
        }
    }
    found
}

fn compared() -> [CmpOp; 6] {
    [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge]
}

fn unary(s: Scalar) -> &'static [UnOp] {
    use UnOp::*;
    match s {
        Scalar::Bool => &[Not],
        _ if s.is_float() => &[Neg, Abs, Sqrt, Floor, Ceil, Trunc, Rint, Conj, IsNan, IsInf, SignBit],
        _ => &[Neg, Not, Abs, Popcount, Clz, Ctz, BitReverse],
    }
}

fn binary(s: Scalar) -> &'static [BinOp] {
    use BinOp::*;
    match s {
        Scalar::Bool => &[And, Or, Xor, Min, Max],
        _ if s.is_float() => &[Add, Sub, Mul, Div, FloorDiv, Mod, Rem, Min, Max, CopySign],
        _ => &[Add, Sub, Mul, FloorDiv, Mod, Rem, And, Or, Xor, Min, Max],
    }
}

fn atomic(s: Scalar) -> &'static [AtomicOp] {
    use AtomicOp::*;
    match s {
        Scalar::Bool => &[And, Or, Xor, Exch, Cas],
        _ if s.is_float() => &[Add, Sub, Min, Max, NanMin, NanMax, Exch, Cas],
        _ => &[Add, Sub, Min, Max, And, Or, Xor, Exch, Inc, Dec, Cas],
    }
}

#[test]
fn every_operation_is_valid_on_every_platform() {
    let bare = Features {
        int64: false,
        float64: false,
        ..Features::dx12()
    };
    for features in [Features::lavapipe(), Features::metal(), Features::dx12(), bare] {
        let mut module = naga::Module::default();
        let mut numbers = Numbers::default();
        for which in all(&features) {
            let made = which.plain(&features).is_some() || numbers.function(&mut module, &features, which).is_some();
            assert!(made, "{which:?}");
        }
        let mut validator = Validator::new(ValidationFlags::all(), features.capabilities());
        if let Err(error) = validator.validate(&module) {
            let shown = error.emit_to_string("");
            assert!(shown.is_empty(), "{:?}: {shown}", features.platform);
        }
    }
}

/// A kernel that does all of them, once.
fn kernel(features: &Features) -> (naga::Module, naga::valid::ModuleInfo) {
    let of = |s: Scalar| weft_ir::eval::zero(s);
    let trials: Vec<Trial> = all(features)
        .into_iter()
        .map(|number| Trial::new(number, number.operands().into_iter().map(|s| vec![of(s)]).collect()))
        .collect();
    let module = trial::module(features, &trials).unwrap();
    let mut validator = Validator::new(ValidationFlags::all(), features.capabilities());
    let info = validator.validate(&module).unwrap();
    (module, info)
}

#[test]
fn metals_language_has_all_of_it() {
    use naga::back::msl::{Options, PipelineOptions, write_string};
    let (module, info) = kernel(&Features::metal());
    let options = Options {
        lang_version: (2, 4),
        ..Options::default()
    };
    let written = write_string(&module, &info, &options, &PipelineOptions::default());
    let (text, _) = written.unwrap();
    assert!(text.contains("weft_floordiv_i64"), "{text}");
}

#[test]
fn hlsl_has_all_of_it() {
    use naga::back::hlsl::{Options, PipelineOptions, ShaderModel, Writer};
    let (module, info) = kernel(&Features {
        float64: true,
        ..Features::dx12()
    });
    let options = Options {
        shader_model: ShaderModel::V6_0,
        ..Options::default()
    };
    let mut text = String::new();
    let pipeline = PipelineOptions::default();
    let written = Writer::new(&mut text, &options, &pipeline).write(&module, &info, None);
    written.unwrap();
    assert!(text.contains("weft_floordiv_i64"), "{text}");
}

#[test]
fn a_function_is_made_once() {
    let (mut module, mut numbers) = (naga::Module::default(), Numbers::default());
    let which = Number::Binary(BinOp::Mod, Scalar::F32, Scalar::F32);
    let features = Features::lavapipe();
    let first = numbers.function(&mut module, &features, which);
    assert_eq!(numbers.function(&mut module, &features, which), first);
    // The remainder and what is made of it.
    assert_eq!(module.functions.len(), 2);
    assert_eq!(numbers.function(&mut module, &features, Number::Fma(Scalar::C64)), None);
}
