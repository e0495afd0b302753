//! Reports of synthetic runs, as their readers get them.

mod browser;
mod html;
mod machine;
mod schema;
mod synthetic;
mod text;
