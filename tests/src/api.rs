//! The public names of a crate with their signatures, read from what rustdoc writes as JSON: to hold `cuda_std` against rust-cuda's.
//!
//! A line an item: `warp::lane_id: fn() -> u32`. Names of parameters do not count, nor do attributes; a type is called by its last name.

use std::collections::BTreeSet;

use serde_json::Value;

/// Every public function, type, trait method, constant and variant of the crate.
pub fn public_api(json: &Value) -> BTreeSet<String> {
    let mut api = BTreeSet::new();
    let root = &json["index"][key(&json["root"])];
    walk(json, root, "", &mut api);
    api
}

/// Ids are numbers; keys of the index are those numbers as text.
fn key(id: &Value) -> String {
    id.as_u64().map_or_else(|| id.as_str().unwrap_or_default().to_owned(), |id| id.to_string())
}

fn item<'a>(json: &'a Value, id: &Value) -> &'a Value {
    &json["index"][key(id)]
}

fn items<'a>(json: &'a Value, ids: &'a Value) -> impl Iterator<Item = &'a Value> {
    ids.as_array().into_iter().flatten().map(|id| item(json, id))
}

fn walk(json: &Value, module: &Value, path: &str, api: &mut BTreeSet<String>) {
    for child in items(json, &module["inner"]["module"]["items"]) {
        if child["visibility"] == "public" {
            add(json, child, path, api);
        }
    }
}

fn add(json: &Value, child: &Value, path: &str, api: &mut BTreeSet<String>) {
    let name = child["name"].as_str().unwrap_or_default();
    let full = if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
    let inner = &child["inner"];
    let Some((kind, of)) = inner.as_object().and_then(|inner| inner.iter().next()) else { return };
    match kind.as_str() {
        "module" => {
            api.insert(format!("{full}: module"));
            walk(json, child, &full, api);
        }
        "function" => drop(api.insert(format!("{full}: {}", function(of)))),
        "use" => {
            let target = item(json, &of["id"]);
            let as_name = of["name"].as_str().unwrap_or_default();
            if of["is_glob"] == true {
                walk(json, target, path, api);
            } else if target["inner"]["module"].is_object() || target.is_null() {
                // Of another crate, or a module: the name is what counts.
                api.insert(format!("{}{as_name}: use", prefix(path)));
            } else {
                add(json, target, path, api);
            }
        }
        "trait" => {
            api.insert(format!("{full}: trait"));
            for method in items(json, &of["items"]) {
                if method["inner"]["function"].is_object() {
                    add(json, method, &full, api);
                }
            }
        }
        "enum" => {
            api.insert(format!("{full}: enum"));
            for variant in items(json, &of["variants"]) {
                api.insert(format!("{full}::{}: variant", variant["name"].as_str().unwrap_or_default()));
            }
        }
        "constant" => drop(api.insert(format!("{full}: const {}", name_of(&of["type"])))),
        "macro" | "proc_macro" => drop(api.insert(format!("{full}: macro"))),
        kind => drop(api.insert(format!("{full}: {kind}"))),
    }
}

fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}::") }
}

/// `unsafe fn<T: Trait>(u32, T) -> (T, bool)`.
fn function(of: &Value) -> String {
    let unsafety = if of["header"]["is_unsafe"] == true { "unsafe " } else { "" };
    let parameters = of["generics"]["params"].as_array().into_iter().flatten().filter_map(|parameter| {
        let bounds = parameter["kind"]["type"]["bounds"].as_array()?;
        let bounds: Vec<String> = bounds.iter().map(|bound| last(&bound["trait_bound"]["trait"]["path"])).collect();
        let name = parameter["name"].as_str()?;
        Some(if bounds.is_empty() { name.to_owned() } else { format!("{name}: {}", bounds.join(" + ")) })
    });
    let generics = parameters.collect::<Vec<_>>().join(", ");
    let generics = if generics.is_empty() { generics } else { format!("<{generics}>") };
    let inputs = of["sig"]["inputs"].as_array().into_iter().flatten().map(|input| name_of(&input[1]));
    let output = match &of["sig"]["output"] {
        Value::Null => String::new(),
        output => format!(" -> {}", name_of(output)),
    };
    format!("{unsafety}fn{generics}({}){output}", inputs.collect::<Vec<_>>().join(", "))
}

/// The last name of a path.
fn last(path: &Value) -> String {
    path.as_str().unwrap_or_default().rsplit("::").next().unwrap_or_default().to_owned()
}

fn name_of(ty: &Value) -> String {
    let Some((kind, of)) = ty.as_object().and_then(|ty| ty.iter().next()) else { return "_".to_owned() };
    match kind.as_str() {
        "primitive" | "generic" => of.as_str().unwrap_or_default().to_owned(),
        "resolved_path" => {
            let arguments = of["args"]["angle_bracketed"]["args"].as_array().into_iter().flatten();
            let arguments: Vec<String> = arguments.map(|argument| name_of(&argument["type"])).collect();
            let name = last(&of["path"]);
            if arguments.is_empty() { name } else { format!("{name}<{}>", arguments.join(", ")) }
        }
        "tuple" => format!("({})", of.as_array().into_iter().flatten().map(name_of).collect::<Vec<_>>().join(", ")),
        "slice" => format!("[{}]", name_of(of)),
        "raw_pointer" => {
            format!("*{} {}", if of["is_mutable"] == true { "mut" } else { "const" }, name_of(&of["type"]))
        }
        "borrowed_ref" => format!("&{}{}", if of["is_mutable"] == true { "mut " } else { "" }, name_of(&of["type"])),
        kind => kind.to_owned(),
    }
}
