//! The items of tuples; those of a named tuple go with its class, which gives them names.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use crate::Object;

/// A tuple of anything: values, types, constants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Items<T> {
    items: Vec<T>,
    class: Option<Arc<TupleClass>>,
}

/// A class made by `collections.namedtuple` or from `typing.NamedTuple`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TupleClass {
    /// Identity of the class.
    pub key: u64,
    pub name: String,
    pub fields: Vec<String>,
}

/// The key of lists; no class of the host's has it.
const LIST: u64 = u64::MAX;
/// The key of what can only be looped over.
const PASSING: u64 = u64::MAX - 1;
/// Likewise of a loop whose turns are written out, each with variables of its own.
const UNROLLED: u64 = u64::MAX - 2;

static LIST_CLASS: LazyLock<Arc<TupleClass>> = LazyLock::new(|| Arc::new(TupleClass::without_fields(LIST, "list")));

/// Such a class as a thing to call.
#[derive(Clone, Debug)]
pub struct TupleMaker {
    pub class: Arc<TupleClass>,
    /// Default values by field.
    pub defaults: Vec<(String, Object)>,
}

impl<T> Items<T> {
    /// One item per field of the class, if there is one.
    pub fn of(class: Option<Arc<TupleClass>>, items: Vec<T>) -> Items<T> {
        Items { items, class }
    }

    /// The items of a list that is written out: as many as there are, and never changed.
    pub fn list(items: Vec<T>) -> Items<T> {
        Items::of(Some(LIST_CLASS.clone()), items)
    }

    /// What `zip`, `enumerate` or `reversed` give of tuples: items to loop over once, which are no tuple.
    pub fn passing(name: &str, items: Vec<T>) -> Items<T> {
        Items::of(Some(Arc::new(TupleClass::without_fields(PASSING, name))), items)
    }

    /// What the library's loops go over that are written out.
    pub fn unrolled(items: Vec<T>) -> Items<T> {
        Items::of(Some(Arc::new(TupleClass::without_fields(UNROLLED, "unrolled"))), items)
    }

    pub fn is_unrolled(&self) -> bool {
        self.class.as_ref().is_some_and(|class| class.key == UNROLLED)
    }

    pub fn is_list(&self) -> bool {
        self.class.as_ref().is_some_and(|class| class.key == LIST)
    }

    pub fn is_passing(&self) -> bool {
        self.class.as_ref().is_some_and(|class| matches!(class.key, PASSING | UNROLLED))
    }

    /// A plain or a named tuple?
    pub fn is_tuple(&self) -> bool {
        !self.is_list() && !self.is_passing()
    }

    pub fn class(&self) -> Option<&Arc<TupleClass>> {
        self.class.as_ref()
    }

    /// Other items in a tuple of the same class.
    pub fn with<U>(&self, items: Vec<U>) -> Items<U> {
        Items::of(self.class.clone(), items)
    }

    pub fn map<U>(&self, change: impl FnMut(&T) -> U) -> Items<U> {
        self.with(self.items.iter().map(change).collect())
    }

    pub fn into_vec(self) -> Vec<T> {
        self.items
    }

    /// The item of that name.
    pub fn field(&self, name: &str) -> Option<&T> {
        self.items.get(self.class()?.position(name)?)
    }

    /// The class that tuples of both classes have where they meet: a named tuple and a plain one are a plain one. `None` if they never do.
    pub fn common_class(&self, other: &Items<T>) -> Option<Option<Arc<TupleClass>>> {
        match (&self.class, &other.class) {
            (Some(a), Some(b)) => (a == b).then(|| Some(a.clone())),
            _ if !self.is_tuple() || !other.is_tuple() => None,
            _ => Some(None),
        }
    }
}

impl TupleClass {
    fn without_fields(key: u64, name: &str) -> TupleClass {
        TupleClass {
            key,
            name: name.to_owned(),
            fields: Vec::new(),
        }
    }

    pub fn position(&self, field: &str) -> Option<usize> {
        self.fields.iter().position(|f| f == field)
    }
}

impl TupleMaker {
    pub fn default_of(&self, field: &str) -> Option<&Object> {
        self.defaults.iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }
}

impl<T> Deref for Items<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> From<Vec<T>> for Items<T> {
    fn from(items: Vec<T>) -> Items<T> {
        Items::of(None, items)
    }
}

impl<T> FromIterator<T> for Items<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Items<T> {
        Items::of(None, items.into_iter().collect())
    }
}

impl<T> IntoIterator for Items<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Items<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}
