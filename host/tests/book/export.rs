//! The static copy: complete, relative, with the explorers' first answers.

use super::*;
use warpwise::book::export;

#[test]
fn the_copy_has_every_page_and_refers_to_nothing_outside_itself() {
    let book = Book::new("export");
    let cli = warpwise::cli::parse(["warpwise", "list"].map(Into::into)).expect("words that are understood");
    let folder = book.folder.join("copy");
    let limits = Limits::default();
    let settings =
        Settings { port: PORT, program: "/no/such".into(), folder: book.folder.clone(), limits, global: cli.global };
    let files = export(settings, &folder).expect("a copy");
    assert!(files > 60, "{files} files");
    let mut to_read = vec![folder.clone()];
    let mut pages = 0;
    while let Some(path) = to_read.pop() {
        if path.is_dir() {
            to_read.extend(std::fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|ending| ending == "html") {
            pages += 1;
            let text = std::fs::read_to_string(&path).expect("a page");
            for mark in ["href=\"", "src=\""] {
                for address in text
                    .split(mark)
                    .skip(1)
                    .filter_map(|rest| rest.split(['"', '#', '?']).next())
                    .filter(|address| !address.is_empty())
                {
                    assert!(!address.starts_with('/') && !address.contains("//"), "{}: {address}", path.display());
                    let target = path.parent().expect("a folder").join(address);
                    assert!(target.is_file(), "{}: {address} leads nowhere", path.display());
                }
            }
        }
    }
    assert!(pages > 45, "{pages} pages");
    let film = std::fs::read_to_string(folder.join("answers/film.json")).expect("the film");
    let film: Value = serde_json::from_str(&film).expect("JSON");
    assert_eq!(film["slots"], 288);
}
