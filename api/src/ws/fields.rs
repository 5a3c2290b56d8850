//! Reads an object into its shape and passes over some of its fields, so that a frame is read without a tree of values
//! between its text and its body.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeSeed, IgnoredAny, IntoDeserializer, MapAccess, Visitor,
        value::{CowStrDeserializer, MapAccessDeserializer},
    },
};

/// A shape, without some fields of the object.
pub struct Without<'f, T> {
    fields: &'f [&'static str],
    shape: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Without<'_, T> {
    /// Reads the shape from what is there beside these fields.
    pub fn fields<D: Deserializer<'de>>(fields: &[&'static str], object: D) -> Result<T, D::Error> {
        object.deserialize_map(Without { fields, shape: PhantomData })
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Without<'_, T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(Rest { object, without: self.fields }))
    }
}

/// The fields that are not passed over.
struct Rest<'f, A> {
    object: A,
    without: &'f [&'static str],
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Rest<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(Name(name)) = self.object.next_key()? {
            if !self.without.contains(&name.as_ref()) {
                let name: CowStrDeserializer<'_, A::Error> = name.into_deserializer();
                return seed.deserialize(name).map(Some);
            }
            self.object.next_value::<IgnoredAny>()?;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.object.next_value_seed(seed)
    }
}
