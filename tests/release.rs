// SPDX-License-Identifier: GPL-3.0-or-later
//! What a release is made of agrees: programs and packages, crates and licences, versions and
//! dates.

use crate::dependencies::packages;
use dbacl_testing::{command, files_below, is_installed, root, skip};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Names of all programs of the workspace.
fn programs() -> BTreeSet<String> {
    let packages = packages();
    let targets =
        packages.iter().flat_map(|package| package["targets"].as_array().expect("targets"));
    let is_program = |target: &&Value| target["kind"] == serde_json::json!(["bin"]);
    targets
        .filter(is_program)
        .map(|target| target["name"].as_str().expect("a name").to_owned())
        // All of them in one file: it is installed by their names.
        .filter(|name| name != "dbacl-suite")
        .collect()
}

#[test]
fn every_program_is_installed_and_in_a_debian_package_with_its_manual_page() {
    let makefile = text("Makefile").replace("\\\n", " ");
    let installed: BTreeSet<&str> = makefile
        .lines()
        .find_map(|line| line.strip_prefix("PROGRAMS = "))
        .expect("the list of programs")
        .split_whitespace()
        .collect();
    let lists = files_below(&root().join("debian"), &[], &["install"]);
    let lists: String =
        lists.iter().map(|path| fs::read_to_string(path).expect("a list")).collect();
    let packaged: BTreeSet<&str> = lists.lines().collect();
    let is_packaged = |place: &str| {
        assert!(packaged.contains(place), "debian/*.install: no package has {place}");
    };
    for program in programs() {
        assert!(installed.contains(&program[..]), "Makefile: PROGRAMS lacks {program}");
        let places = [format!("usr/bin/{program}"), format!("usr/games/{program}")];
        assert!(
            places.iter().any(|place| packaged.contains(&place[..])),
            "debian/*.install: no package has {program} (debian/README.source)"
        );
        for place in [
            format!("usr/share/bash-completion/completions/{program}"),
            format!("usr/share/fish/vendor_completions.d/{program}.fish"),
            format!("usr/share/zsh/vendor-completions/_{program}"),
        ] {
            is_packaged(&place);
        }
    }
    let left_out = text("debian/not-installed");
    for folder in fs::read_dir(root().join("integrations")).expect("the folder") {
        let name = folder.expect("readable").file_name();
        let place = format!("usr/share/dbacl/integrations/{}", name.display());
        if !left_out.lines().any(|line| line == place) {
            is_packaged(&place);
        }
    }
    // Debian's games have their pages in section 6. All pages of the others go with dbacl.
    let pages = files_below(&root().join("docs/man"), &[], &["1"]);
    assert!(!pages.is_empty());
    for page in pages {
        let name = page.file_name().expect("a name").display();
        let page = name.to_string();
        match page.strip_suffix(".1").filter(|name| *name == "chess-adapter") {
            Some(game) => is_packaged(&format!("usr/share/man/man6/{game}.6")),
            None => is_packaged(&format!("usr/share/man/man1/{page}")),
        }
    }
}

/// A package of a server brings what `systemctl start` needs.
#[test]
fn debian_packages_have_units_and_settings() {
    let rules = text("debian/rules");
    for (unit, name) in [
        ("server/dbacl-server.service", "debian/dbacl-server.service"),
        ("imap/dbacl-imap.service", "debian/dbacl-imap.user.service"),
    ] {
        let copies = format!("cp integrations/{unit} {name}");
        assert!(rules.contains(&copies), "debian/rules: no {copies}");
    }
    let unit = text("integrations/server/dbacl-server.service");
    let user = unit.lines().find_map(|line| line.strip_prefix("User=")).expect("a user");
    assert!(text("debian/dbacl-server.sysusers").starts_with(&format!("u {user} ")));
    assert!(text("debian/dbacl-server.tmpfiles").contains(&format!(" {user} {user} ")));
    assert!(text("debian/dbacl-server.install").contains("debian/server.toml etc/dbacl"));
    // Nothing hides what whoever uploads has to do.
    for path in files_below(&root().join("debian"), &[], &["lintian-overrides"]) {
        let rules = fs::read_to_string(&path).expect("rules");
        for duty in ["initial-upload-closes-no-bugs", "no-human-maintainers"] {
            assert!(!rules.contains(duty), "{}: {duty}", path.display());
        }
    }
}

/// Packages that go to the registry of crates, by name.
fn published() -> BTreeMap<String, Value> {
    let packages = packages();
    let public = packages.into_iter().filter(|package| package["publish"].is_null());
    public.map(|package| (name(&package).to_owned(), package)).collect()
}

fn name(value: &Value) -> &str {
    value["name"].as_str().expect("a name")
}

#[test]
fn every_package_can_be_published_with_the_ones_it_needs() {
    let published = published();
    for package in published.values() {
        for field in ["description", "license", "readme"] {
            assert!(package[field].is_string(), "{}: no {field}", name(package));
        }
        for field in ["keywords", "categories"] {
            let list = package[field].as_array().expect("a list");
            assert!((1..=5).contains(&list.len()), "{}: {field}", name(package));
        }
        let needed = package["dependencies"].as_array().expect("dependencies").iter();
        // Cargo leaves out what only tests need.
        let ours = needed.filter(|needed| needed["path"].is_string() && needed["kind"].is_null());
        for needed in ours {
            let other = published.get(name(needed)).unwrap_or_else(|| {
                panic!("{} needs {}, which is not published", name(package), name(needed))
            });
            let version = other["version"].as_str().expect("a version");
            let wanted = needed["req"].as_str().expect("a requirement");
            assert!(
                [format!("={version}"), format!("^{version}")].contains(&wanted.to_owned()),
                "{}: its manifest wants {} {wanted}, and that is {version}",
                name(package),
                name(needed)
            );
        }
    }
}

/// The registry takes a few new names at once and then one in ten minutes.
#[test]
fn few_packages_are_published_under_names_of_our_own() {
    let names: Vec<String> = published().into_keys().collect();
    assert!(names.len() <= 12, "{names:?}: `publish = false` for what nobody needs alone");
    for name in names {
        assert!(name == "dbacl" || name.starts_with("dbacl-"), "{name}");
    }
}

/// A registry that has one crate already, and wants a rest after each third upload.
const REGISTRY: &str = r#"#!/bin/sh
if test "$1" = metadata; then
  "$REAL" "$@" | sed 's|"repository":"[^"]*"|"repository":"https://example.org/us"|g'
  exit
fi
cd "${0%/*}" || exit
case "$1 $2" in
  info*) grep -qx "${2%@*}" there && echo "repository: $OWNER" && exit
    echo "error: could not find $2" >&2; exit 101 ;;
  publish*) for name; do :; done
    echo "$name" >>tried
    if test "$(grep -cx "$name" tried)" = 1 && test $(($(wc -l <tried) % 3)) = 0; then
      echo 'error: 429: Please try again after Sat, 01 Jan 2000 00:00:00 GMT' >&2; exit 101
    fi
    test "$name" != "${BROKEN-}" || exit 101
    echo "$name" >>there; echo "$name" >>uploaded ;;
esac
"#;

#[test]
fn an_upload_waits_resumes_and_sends_each_crate_after_those_it_needs() {
    if !is_installed("python3", "packaging/publish") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("cargo"), REGISTRY).expect("a file");
    fs::set_permissions(path("cargo"), fs::Permissions::from_mode(0o755)).expect("rights");
    fs::write(path("there"), "dbacl-files\n").expect("a file");
    let publish = |owner: &str, broken: &str| {
        let mut python = command("python3");
        python.arg(root().join("packaging/publish")).env("CARGO", path("cargo"));
        python.env("REAL", env!("CARGO")).env("OWNER", owner).env("BROKEN", broken);
        let output = python.current_dir(root()).output().expect("python");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let uploaded = || {
        let text = fs::read_to_string(path("uploaded")).unwrap_or_default();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };

    let (done, said) = publish("https://example.org/stranger", "");
    assert!(!done && said.contains("somebody else in the registry: dbacl-files"), "{said}");
    assert!(uploaded().is_empty());
    let (done, said) = publish("https://example.org/us", "dbacl");
    assert!(!done && said.contains("Run packaging/publish again"), "{said}");
    let (done, said) = publish("https://example.org/us", "");
    assert!(done, "{said}");

    let order = uploaded();
    let published = published();
    assert_eq!(order.len(), published.len() - 1, "{order:?}");
    let place = |name: &str| order.iter().position(|found| found == name);
    for (name, package) in &published {
        for needed in package["dependencies"].as_array().expect("dependencies") {
            if needed["kind"].is_null() && needed["path"].is_string() {
                let needed = needed["name"].as_str().expect("a name");
                assert!(place(needed) < place(name), "{name} before {needed}: {order:?}");
            }
        }
    }
}

#[test]
fn cargo_binstall_finds_each_program_in_the_archive_of_a_release() {
    let dist = text("packaging/dist");
    // The names of archives and of their folders, and where `make install` puts programs in them.
    let lines =
        ["name=dbacl-$version-$target", r#"archive "$name" | gzip -9n >"$out/$name.tar.gz""#];
    for line in lines {
        assert!(dist.lines().any(|found| found.trim() == line), "packaging/dist: no {line}");
    }
    assert!(dist.contains(r#"DESTDIR="$work/$name" PREFIX="#));
    let target = "x86_64-unknown-linux-gnu";
    for (package, about) in published() {
        let targets = about["targets"].as_array().expect("targets").iter();
        let version = about["version"].as_str().expect("a version");
        for program in targets.filter(|target| target["kind"] == serde_json::json!(["bin"])) {
            let settings = &about["metadata"]["binstall"];
            let values = [("version", version), ("target", target), ("bin", name(program))];
            let filled = |key: &str| {
                let mut text = settings[key].as_str().unwrap_or_default().to_owned();
                for (word, value) in values {
                    text = text.replace(&format!("{{ {word} }}"), value);
                }
                text
            };
            let archive = format!("dbacl-{version}-{target}");
            assert_eq!(
                filled("pkg-url"),
                format!("{{ repo }}/releases/download/v{version}/{archive}.tar.gz"),
                "{package}: package.metadata.binstall"
            );
            assert_eq!(filled("bin-dir"), format!("{archive}/bin/{}", name(program)), "{package}");
            assert_eq!(filled("pkg-fmt"), "tgz", "{package}");
        }
    }
}

#[test]
fn the_licence_of_every_crate_is_in_the_copyright_file() {
    let lock = text("Cargo.lock");
    let copyright = text("debian/copyright");
    let listed: BTreeSet<&str> = copyright
        .lines()
        .filter_map(|line| line.strip_prefix("Files: vendor/")?.strip_suffix("/*"))
        .collect();
    let locked: BTreeSet<String> = lock
        .split("[[package]]")
        .filter(|entry| entry.contains("\nsource = "))
        .map(|entry| {
            let value = |key: &str| {
                let line = entry.lines().find_map(|line| line.strip_prefix(key)).expect("a value");
                line.trim_matches('"').to_owned()
            };
            format!("{}-{}", value("name = "), value("version = "))
        })
        .collect();
    let locked: BTreeSet<&str> = locked.iter().map(|name| &name[..]).collect();
    assert_eq!(
        listed, locked,
        "debian/copyright is not that of Cargo.lock: run packaging/vendor and packaging/copyright"
    );
}

/// Runs a script of the repository, unless the program that it needs is missing.
fn run(needed: &str, script: &str, arguments: &[&str]) {
    if !is_installed(needed, script) {
        return;
    }
    let mut command = command(needed);
    let output = command.args(arguments).current_dir(root()).output().expect("it has started");
    assert!(
        output.status.success(),
        "{needed} {}:\n{}{}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn version_and_date_are_the_same_everywhere() {
    run("python3", "packaging/stamp", &["packaging/stamp", "--check"]);
}

#[test]
fn scripts_can_be_parsed() {
    for script in ["clean.sh", "deb", "dist", "check-dist", "check-twice", "check-deb", "try-all"] {
        run("bash", script, &["-n", &format!("packaging/{script}")]);
    }
}

/// An image has no system whose certificates `dbacl-imap` could use.
#[test]
fn the_image_has_the_programs_and_certificates() {
    if !is_installed("python3", "packaging/image") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let machines = ["dbacl-2-x86_64-unknown-linux-gnu", "dbacl-2-aarch64-unknown-linux-gnu"];
    for machine in machines {
        for name in ["bin/dbacl", "libexec/wrapper"] {
            let file = path(machine).join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, format!("{machine} {name}")).expect("a file");
        }
    }
    fs::write(path("list"), "authorities").expect("a file");
    let make = |list: &str, archive: &str| {
        let mut image = command("python3");
        image.arg(root().join("packaging/image")).arg(path(archive)).arg("2").args(machines);
        image.env("CERTIFICATES", path(list)).current_dir(folder.path()).output().expect("python")
    };
    let unpack = |archive: &Path, into: &Path| {
        fs::create_dir(into).expect("a folder");
        let status = command("tar").arg("-xf").arg(archive).arg("-C").arg(into).status();
        assert!(status.expect("tar").success(), "{}", archive.display());
    };
    for archive in ["image", "again"] {
        let output = make("list", archive);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(fs::read(path("image")).expect("one"), fs::read(path("again")).expect("another"));

    unpack(&path("image"), &path("layout"));
    let blob = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().expect("a digest");
        path("layout/blobs").join(digest.replace(':', "/"))
    };
    let read = |file: &Path| -> Value {
        serde_json::from_slice(&fs::read(file).expect("a file")).expect("JSON")
    };
    let list = read(&blob(&read(&path("layout/index.json"))["manifests"][0]));
    for (number, (machine, name)) in machines.iter().zip(["amd64", "arm64"]).enumerate() {
        let entry = &list["manifests"][number];
        assert_eq!(entry["platform"]["architecture"], name);
        let manifest = read(&blob(entry));
        assert_eq!(read(&blob(&manifest["config"]))["architecture"], name);
        unpack(&blob(&manifest["layers"][0]), &path(name));
        for (file, expected) in [
            ("bin/dbacl", format!("{machine} bin/dbacl")),
            ("libexec/wrapper", format!("{machine} libexec/wrapper")),
            ("etc/ssl/certs/ca-certificates.crt", "authorities".to_owned()),
        ] {
            assert_eq!(fs::read_to_string(path(name).join(file)).expect(file), expected);
        }
    }

    let output = make("nowhere", "other");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("install ca-certificates"), "{errors}");
}

/// A package installs programs in `/usr/bin`, `make install` in `/usr/local/bin`. systemd searches
/// both for a program without a path.
#[test]
fn units_of_systemd_start_programs_by_name() {
    let programs = programs();
    for unit in ["server/dbacl-server.service", "imap/dbacl-imap.service"] {
        let unit = text(&format!("integrations/{unit}"));
        let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart="));
        let program = command.and_then(|command| command.split_whitespace().next());
        assert!(program.is_some_and(|name| programs.contains(name)), "{program:?}");
    }
}

/// What systemd says of the units, in tenths: 0 is best, 100 is worst. It counts against a user's
/// unit what only the system's units can do without, such as root's rights.
#[test]
fn units_take_no_more_rights_than_they_need() {
    let scratch = dbacl_testing::Scratch::new();
    for (unit, whose, most) in [
        ("server/dbacl-server.service", "--system", "15"),
        ("imap/dbacl-imap.service", "--user", "66"),
    ] {
        let mut asks = command("systemd-analyze");
        asks.args(["security", "--offline=true", whose, "--threshold", most]);
        asks.arg(root().join("integrations").join(unit));
        asks.env("XDG_RUNTIME_DIR", scratch.path("."));
        match asks.output() {
            Err(error) => skip("the rights of the units", &error.to_string()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                let is_known = said.contains("Overall exposure level");
                if !is_known {
                    return skip("the rights of the units", "this systemd does not report them");
                }
                assert!(output.status.success(), "{unit}: {said}");
            }
        }
    }
}

#[test]
fn the_oldest_compiler_is_the_same_everywhere() {
    let packages = packages();
    let compiler = packages[0]["rust_version"].as_str().expect("a version");
    for package in &packages {
        assert_eq!(package["rust_version"], compiler, "{}", name(package));
    }
    for (file, words) in [
        ("README.md", format!("Rust {compiler} or newer")),
        ("programs/python/Cargo.toml", format!("rust-version = \"{compiler}\"")),
        ("debian/control", format!("cargo (>= {compiler}) | cargo-web (>= {compiler})")),
        ("debian/control", format!("rustc (>= {compiler}) | rustc-web (>= {compiler})")),
    ] {
        assert!(text(file).contains(&words), "{file}: no {words}");
    }
}
