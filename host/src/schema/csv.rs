//! The rows of a document as CSV: the same names and numbers as in its JSON, for spreadsheets.

use serde::Serialize;
use serde_json::Value;

/// The document's `rows` under a line of names. What a row has inside a field gets a name with a dot (`next_cliff.registers`); several
/// values of a field are divided by `; `; what there is none of is empty.
pub fn csv(document: &impl Serialize) -> String {
    // As for JSON, there is nothing in the documents that cannot be written.
    let document = serde_json::to_value(document).unwrap_or_default();
    let rows: Vec<Vec<(String, String)>> =
        document["rows"].as_array().into_iter().flatten().map(|row| flat("", row)).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    // A field that is an object in one row and absent in another: the object's names are enough.
    let is_parent =
        |name: &str| names.iter().any(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')));
    let names: Vec<&str> = names.iter().copied().filter(|name| !is_parent(name)).collect();
    let mut out = ::csv::Writer::from_writer(Vec::new());
    let _ = out.write_record(&names);
    for row in &rows {
        let cell = |name: &&str| row.iter().find(|(of, _)| of == name).map_or("", |(_, cell)| cell);
        let _ = out.write_record(names.iter().map(cell));
    }
    String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn flat(prefix: &str, value: &Value) -> Vec<(String, String)> {
    let named = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().flat_map(|(key, value)| flat(&named(key), value)).collect(),
        other => vec![(prefix.to_owned(), cell(other))],
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_flat_quoted_where_needed_and_empty_where_there_is_nothing() {
        let document = serde_json::json!({"schema": "x/1", "rows": [
            {"kernel": "a", "next": null, "limiters": ["warps", "registers"], "note": "one, two"},
            {"kernel": "b", "next": {"registers": 41}, "limiters": [], "note": ""},
        ]});
        let text = "kernel,limiters,note,next.registers\na,warps; registers,\"one, two\",\nb,,,41\n";
        assert_eq!(csv(&document), text);
    }
}
