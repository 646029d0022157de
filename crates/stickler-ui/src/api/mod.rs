//! The interface of the page: what each path returns, as JSON. No HTTP here.

pub(crate) mod call_check;
pub(crate) mod definitions;
pub(crate) mod exchange;
pub(crate) mod rows;
pub(crate) mod schema_of_field;
pub(crate) mod sessions;
pub(crate) mod tools;
