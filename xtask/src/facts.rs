//! What was found and made, as JSON for `warpwise` to read: `kernels.json` beside the PTX, `build.json` for `doctor`.

use crate::compiler::{Compiler, Search};
use crate::error::{Error, Result};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A value of the JSON written here.
pub enum Value {
    Text(String),
    Null,
    List(Vec<Value>),
    Object(Vec<(&'static str, Value)>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&Path> for Value {
    fn from(path: &Path) -> Self {
        Self::Text(path.display().to_string())
    }
}

impl Value {
    fn write(&self, json: &mut String) {
        match self {
            Self::Null => json.push_str("null"),
            Self::Text(text) => write_text(text, json),
            Self::List(values) => {
                json.push('[');
                for (index, value) in values.iter().enumerate() {
                    json.push_str(if index > 0 { ", " } else { "" });
                    value.write(json);
                }
                json.push(']');
            }
            Self::Object(fields) => {
                json.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    json.push_str(if index > 0 { ", " } else { "" });
                    write_text(name, json);
                    json.push_str(": ");
                    value.write(json);
                }
                json.push('}');
            }
        }
    }
}

fn write_text(text: &str, json: &mut String) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\n' => json.push_str("\\n"),
            control if u32::from(control) < 0x20 => {
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
}

/// Writes `value` to `path`, whole: a reader sees the old file or the new one.
pub fn write(path: &Path, value: &Value) -> Result<()> {
    let mut json = String::new();
    value.write(&mut json);
    json.push('\n');
    if fs::read_to_string(path).is_ok_and(|old| old == json) {
        return Ok(());
    }
    replace(path, json.as_bytes())
}

/// Writes a file beside `path` and moves it there.
pub fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, content).map_err(|error| Error::file("write", &new, &error))?;
    fs::rename(&new, path).map_err(|error| Error::file("replace", path, &error))
}

/// A compiler, as both files tell it.
pub fn compiler(compiler: &Compiler) -> Value {
    Value::Object(vec![
        ("path", compiler.rustc.as_path().into()),
        ("version", compiler.version.as_str().into()),
        ("llvm", compiler.llvm.as_str().into()),
        ("core_source", compiler.core_source.as_path().into()),
        ("origin", compiler.origin.name().into()),
    ])
}

/// The content of `build.json`: the search for a compiler, what was installed for it, and what would mend its failure.
pub fn build(search: &Search, provisioned: &[&str], mend: &str) -> Value {
    let rejected = search.rejected.iter().map(|rejected| {
        Value::Object(vec![("path", rejected.rustc.as_str().into()), ("reason", rejected.reason.as_str().into())])
    });
    Value::Object(vec![
        ("schema", "warpwise.build/1".into()),
        ("compiler", search.compiler.as_ref().map_or(Value::Null, compiler)),
        ("rejected", Value::List(rejected.collect())),
        ("provisioned", Value::List(provisioned.iter().map(|what| (*what).into()).collect())),
        ("mend", if search.compiler.is_some() { Value::Null } else { mend.into() }),
    ])
}

#[cfg(test)]
mod tests {
    use super::{Value, build};
    use crate::compiler::{Rejected, Search};

    fn text(value: &Value) -> String {
        let mut json = String::new();
        value.write(&mut json);
        json
    }

    #[test]
    fn quotes_backslashes_and_control_characters_are_escaped() {
        assert_eq!(text(&"a\"b\\c\nd\u{1}é".into()), r#""a\"b\\c\nd\u0001é""#);
    }

    #[test]
    fn a_failed_search_says_who_was_rejected_and_what_mends_it() {
        let rejected = vec![Rejected { rustc: "rustc".to_owned(), reason: "does not start".to_owned() }];
        assert_eq!(
            text(&build(&Search { compiler: None, rejected }, &[], "run x")),
            "{\"schema\": \"warpwise.build/1\", \"compiler\": null, \
             \"rejected\": [{\"path\": \"rustc\", \"reason\": \"does not start\"}], \
             \"provisioned\": [], \"mend\": \"run x\"}"
        );
    }
}
