//! Guards the tree's own shape, by reading its files as text. Each rule is a function from a path and a text
//! to a complaint, with a test that shows it complain. What rustc and clippy can say is left to them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Each crate may know those before it.
const CRATES: [(&str, &str); 6] = [
    ("domain", "domain"),
    ("event_store", "event_store"),
    ("projections", "projections"),
    ("bench", "quipu_bench"),
    ("api", "quipu"),
    ("tests", "tests"),
];

/// Knows none of the others: it judges a server as any client would.
const CLIENT: &str = "bench";

/// The domain has no async, I/O or randomness, so it has nothing that brings them.
const NOT_IN_DOMAIN: [&str; 7] =
    ["tokio", "async-trait", "tokio-postgres", "deadpool-postgres", "futures-util", "getrandom", "reqwest"];

/// Past this a file says in its header why it is long.
const LINES_MAX: usize = 400;

/// Put together here, so that this file does not find itself.
const MARKERS: [&str; 6] = [
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
    concat!("db", "g!"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("HA", "CK"),
];

/// Hosts of package registries: where packages come from is the machine's business.
const HOSTS: [&str; 9] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("deb.debian", ".org"),
    concat!("security.debian", ".org"),
    concat!("proxy.golang", ".org"),
    concat!("maven.", "org"),
];

/// A path of one particular workplace.
const WORKPLACE: &str = concat!("/wo", "rk/");

#[test]
fn the_tree_is_tidy() {
    let files = Tree::read();
    let included = files.iter("rs").flat_map(|(path, text)| included(path, text)).collect();
    let sources: BTreeMap<&Path, &str> = files.iter("rs").collect();
    let mut complaints = Vec::new();
    for (path, text) in &files.0 {
        let rules = [
            crate_direction(path, text),
            sql_promise(path, text),
            sql_included(path, &included),
            joins_across(path, text),
            length(path, text),
            header(path, text),
            marker(path, text),
            outside_name(path, text),
            named_test(path, text, &sources),
        ];
        complaints.extend(rules.into_iter().flatten().map(|it| format!("{}: {it}", path.display())));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_tree_was_really_read() {
    let files = Tree::read();
    let manifests = files.0.iter().filter(|(path, _)| path.ends_with("Cargo.toml")).count();
    assert_eq!(manifests, CRATES.len() + 1);
    assert!(files.iter("rs").any(|(path, _)| path == Path::new("tests/tests/tidy.rs")));
}

/// Paths from the root of the workspace, and texts. Files that are not text are left out.
struct Tree(Vec<(PathBuf, String)>);

impl Tree {
    fn read() -> Tree {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut files = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy();
                if [".git", "target", "quipu-data"].contains(&&*name) || path.is_symlink() {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(text) = fs::read_to_string(&path) {
                    files.push((path.strip_prefix(root).unwrap().to_owned(), text));
                }
            }
        }
        files.sort();
        Tree(files)
    }

    fn iter(&self, extension: &str) -> impl Iterator<Item = (&Path, &str)> {
        self.0
            .iter()
            .filter(move |(path, _)| has_extension(path, extension))
            .map(|(path, text)| (path.as_path(), text.as_str()))
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|it| it == extension)
}

/// domain ← event_store ← projections ← api ← tests and bench ← api, in every kind of dependency.
fn crate_direction(path: &Path, text: &str) -> Option<String> {
    let folder = path.parent()?.to_str()?;
    let place = CRATES.iter().position(|(it, _)| path.ends_with("Cargo.toml") && *it == folder)?;
    let dependencies = dependencies(text);
    let not_known = if folder == CLIENT { &CRATES[..] } else { &CRATES[place..] };
    let forward = not_known.iter().map(|(_, name)| *name).find(|name| dependencies.contains(name));
    if let Some(name) = forward {
        return Some(format!("{folder} must not know {name}"));
    }
    let banned = NOT_IN_DOMAIN.iter().find(|name| place == 0 && dependencies.contains(*name))?;
    Some(format!("the domain has no async, I/O or randomness, so no {banned}"))
}

/// The names in every table of dependencies of a manifest.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            inside = table.ends_with("dependencies");
            if let Some((_, name)) = table.split_once("dependencies.") {
                names.insert(name);
            }
        } else if inside && !line.starts_with('#') {
            let end = line.find([' ', '.', '=']).unwrap_or(line.len());
            names.insert(line[..end].trim_matches('"'));
        }
    }
    names
}

fn is_query(path: &Path) -> bool {
    has_extension(path, "sql")
        && !["migrations", "tests/golden"].iter().any(|folder| path.starts_with(folder))
}

/// A query's file is named like a function and opens with its name and its promise.
fn sql_promise(path: &Path, text: &str) -> Option<String> {
    if !is_query(path) {
        return None;
    }
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".sql")?;
    if !stem.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        return Some("the name is not snake_case".into());
    }
    let promise = text.strip_prefix(&format!("-- {name}: ")).and_then(|rest| rest.lines().next());
    match promise {
        Some(promise) if !promise.trim().is_empty() => None,
        _ => Some(format!("the first line is not `-- {name}: <what it promises>`")),
    }
}

fn sql_included(path: &Path, included: &BTreeSet<PathBuf>) -> Option<String> {
    (is_query(path) && !included.contains(path)).then(|| "no include_str! names it".into())
}

/// Read models lead with conv_id or with uid, by which they can be spread over machines: a statement stays with one.
fn joins_across(path: &Path, text: &str) -> Option<String> {
    const BY_CONV: [&str; 4] = ["head", "member_by_conv", "watermark", "setting"];
    let statement = text.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n");
    let across = is_query(path)
        && finds_word(&statement, "member_by_person")
        && BY_CONV.iter().any(|table| finds_word(&statement, table));
    across.then(|| "joins what is kept by person with what is kept by conversation".into())
}

/// What the include_str! of a source file name, as paths from the root.
fn included(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let calls = text.split("include_str!(").skip(1);
    let named = calls.filter_map(|call| call.trim_start().strip_prefix('"')?.split('"').next());
    named.map(|name| normal(&folder.join(name))).collect()
}

fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

fn header_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| line.starts_with("//!"))
}

fn length(path: &Path, text: &str) -> Option<String> {
    let lines = text.lines().count();
    let header =
        || header_lines(text).map(|line| line.trim_start_matches("//!").trim()).collect::<Vec<_>>().join(" ");
    let says_why = || header().to_lowercase().contains("long because");
    (has_extension(path, "rs") && lines > LINES_MAX && !says_why())
        .then(|| format!("{lines} lines, and the header does not say `Long because …`"))
}

fn header(path: &Path, text: &str) -> Option<String> {
    let opens = text.strip_prefix("//! ").is_some_and(|rest| !rest.starts_with(char::is_whitespace));
    (has_extension(path, "rs") && !opens).then(|| "does not open with its job, `//! …`".into())
}

fn marker(_path: &Path, text: &str) -> Option<String> {
    let found = MARKERS.iter().find(|marker| finds_word(text, marker))?;
    Some(format!("left over: {found}"))
}

/// `word` with no letter, digit or underscore right before or after it.
fn finds_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_some_and(part);
        let after = text[at + word.len()..].chars().next().is_some_and(part);
        !before && (!after || word.ends_with('!'))
    })
}

/// Cargo.lock is cargo's own and names where it looked.
fn outside_name(path: &Path, text: &str) -> Option<String> {
    if path.ends_with("Cargo.lock") {
        return None;
    }
    if let Some(host) = HOSTS.iter().find(|host| text.contains(*host)) {
        return Some(format!("names the package registry {host}"));
    }
    let inside_a_path = |c: char| c.is_alphanumeric() || "._-~".contains(c);
    let names_workplace = text
        .match_indices(WORKPLACE)
        .any(|(at, _)| !text[..at].chars().next_back().is_some_and(inside_a_path));
    names_workplace.then(|| format!("names a path below {WORKPLACE}"))
}

/// A test that a document names as `file.rs: name`, below tests/tests/ or from the root, exists.
fn named_test(path: &Path, text: &str, sources: &BTreeMap<&Path, &str>) -> Option<String> {
    if !has_extension(path, "md") {
        return None;
    }
    let exists = |file: &str, name: &str| {
        let places = [Path::new("tests/tests").join(file), PathBuf::from(file)];
        let source = places.iter().find_map(|place| sources.get(place.as_path()));
        let mut is_test = false;
        source.is_some_and(|source| {
            source.lines().map(str::trim).any(|line| {
                let found = is_test && line.split("fn ").nth(1).is_some_and(|it| it.starts_with(name));
                is_test = line.starts_with("#[test]") || line.starts_with("#[tokio::test");
                found
            })
        })
    };
    let named = text.split('`').skip(1).step_by(2).filter_map(|code| code.split_once(".rs: "));
    named
        .map(|(file, name)| (format!("{file}.rs"), format!("{name}()")))
        .find(|(file, name)| !exists(file, name))
        .map(|(file, name)| format!("{file} has no test {name}"))
}

#[test]
fn a_named_test_that_does_not_exist_is_found() {
    let sources = BTreeMap::from([
        (
            Path::new("tests/tests/a/b.rs"),
            "#[tokio::test(flavor = \"x\")]\nasync fn it_holds() {}\nfn helper() {}",
        ),
        (Path::new("domain/src/c.rs"), "mod tests {\n    #[test]\n    fn it_is() {}\n}"),
    ]);
    let rule = |text: &str| named_test(Path::new("docs/d.md"), text, &sources);
    assert_eq!(rule("see `a/b.rs: it_holds` and `domain/src/c.rs: it_is`, `a/b.rs` and `x: y`"), None);
    for odd in ["a/b.rs: it_hold", "a/b.rs: it_holds_not", "a/b.rs: helper", "b.rs: it_holds", "c.rs: it_is"]
    {
        assert!(rule(&format!("see `a/b.rs: it_holds` and `{odd}`")).is_some(), "{odd}");
    }
    assert_eq!(named_test(Path::new("a.rs"), "`a/b.rs: nothing`", &sources), None);
}

#[test]
fn a_dependency_that_points_forward_is_found() {
    let rule = |folder: &str, text: &str| crate_direction(&Path::new(folder).join("Cargo.toml"), text);
    assert!(rule("event_store", "[dependencies]\nprojections.workspace = true").is_some());
    assert!(rule("event_store", "[dev-dependencies]\ntests = { path = \"../tests\" }").is_some());
    assert!(rule("projections", "[dependencies.quipu]\npath = \"../api\"").is_some());
    assert!(rule("domain", "[target.'cfg(unix)'.dependencies]\ntokio = \"1\"").is_some());
    assert!(rule("domain", "[build-dependencies]\n\"async-trait\" = \"1\"").is_some());
    assert!(rule("bench", "[dependencies]\ndomain.workspace = true").is_some());
    assert!(rule("projections", "[dependencies]\nquipu_bench.workspace = true").is_some());
    assert!(rule("api", "[dependencies]\nquipu_bench.workspace = true").is_none());
    assert!(rule("api", "[package]\nname = \"quipu\"\n[dependencies]\ndomain.workspace = true").is_none());
    assert!(rule("tests", "[dependencies]\nquipu.workspace = true\ntokio.workspace = true").is_none());
}

#[test]
fn a_query_without_name_or_promise_is_found() {
    let rule = |name: &str, text: &str| sql_promise(&Path::new("projections/src").join(name), text);
    assert!(rule("page.sql", "select 1").is_some());
    assert!(rule("page.sql", "-- other.sql: one page.\nselect 1").is_some());
    assert!(rule("page.sql", "-- page.sql: \nselect 1").is_some());
    assert!(rule("Page-1.sql", "-- Page-1.sql: one page.\nselect 1").is_some());
    assert!(rule("page.sql", "-- page.sql: one page.\nselect 1").is_none());
    assert!(sql_promise(Path::new("migrations/V1__Log.sql"), "create table …").is_none());
}

#[test]
fn a_query_that_nobody_includes_is_found() {
    let source = "a(include_str!(\"history/page.sql\")); b(include_str!(\n  \"../other.sql\"))";
    let included: BTreeSet<_> =
        included(Path::new("projections/src/history.rs"), source).into_iter().collect();
    assert!(sql_included(Path::new("projections/src/history/page.sql"), &included).is_none());
    assert!(sql_included(Path::new("projections/other.sql"), &included).is_none());
    assert!(sql_included(Path::new("projections/src/page.sql"), &included).is_some());
}

#[test]
fn a_join_across_is_found() {
    let rule = |text: &str| joins_across(Path::new("projections/src/a.sql"), text);
    assert!(rule("select from member_by_person m join head h on h.conv_id = m.conv_id").is_some());
    assert!(rule("-- a.sql: not of a head.\nselect joined_at from member_by_person").is_none());
    assert!(rule("select from head h left join setting s on s.conv_id = h.conv_id").is_none());
}

#[test]
fn a_long_file_without_a_reason_is_found() {
    let body = "line\n".repeat(LINES_MAX);
    assert!(length(Path::new("a/src/b.rs"), &format!("//! Does things.\n{body}")).is_some());
    assert!(length(Path::new("a/src/b.rs"), &format!("//! Does things.\n\n//! Long\n{body}")).is_some());
    assert!(length(Path::new("a/src/b.rs"), &format!("//! It brings messages along.\n{body}")).is_some());
    assert!(length(Path::new("a/src/b.rs"), &format!("//! Long because of this.\n{body}")).is_none());
    assert!(
        length(Path::new("a/src/b.rs"), &format!("//! Things. Long\n//! because of this.\n{body}")).is_none()
    );
    assert!(length(Path::new("a/src/b.rs"), &body).is_none());
}

#[test]
fn a_file_that_does_not_say_its_job_is_found() {
    assert!(header(Path::new("a/src/b.rs"), "use std::fs;").is_some());
    assert!(header(Path::new("a/src/b.rs"), "//! \nuse std::fs;").is_some());
    assert!(header(Path::new("a/src/b.rs"), "//! Does things.\n").is_none());
    assert!(header(Path::new("a/b.sql"), "select 1").is_none());
}

#[test]
fn markers_are_found_but_not_inside_words() {
    for found in MARKERS {
        assert!(marker(Path::new("a.md"), &format!("x {found} y")).is_some(), "{found}");
        assert!(marker(Path::new("a.md"), &format!("x_{found}")).is_none(), "{found}");
    }
    assert!(marker(Path::new("a.rs"), &format!("{}(x)", MARKERS[2])).is_some());
}

#[test]
fn names_of_registries_and_workplaces_are_found() {
    for host in HOSTS {
        assert!(outside_name(Path::new("README.md"), &format!("from https://{host}/x")).is_some());
        assert!(outside_name(Path::new("Cargo.lock"), host).is_none());
    }
    assert!(outside_name(Path::new("README.md"), &format!("see {WORKPLACE}x")).is_some());
    assert!(outside_name(Path::new("README.md"), &format!("see /net{WORKPLACE}x")).is_none());
}
