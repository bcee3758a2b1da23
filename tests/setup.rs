// SPDX-License-Identifier: GPL-3.0-or-later
//! The script that installs what tests need (`.ci/setup`), beside a package manager that is busy.

use dbacl_testing::{Done, Scratch, done, root};
use std::fs;
use std::process::Command;

/// Makes programs that stand for those of the system. The package manager finds the lock held at
/// the first calls of each kind; the file `busy` says how many. A shell writes them: see "text file
/// busy" in `script.rs` of dbacl-eval.
const PROGRAMS: &str = r#"
mkdir bin
cat >bin/apt-get <<'END'
#!/bin/sh
for word; do case $word in update | install) kind=$word ;; esac; done
echo "$kind" >>calls
if [ "$(grep -c "$kind" calls)" -le "$(cat busy)" ]; then
  echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)' >&2
  exit 100
fi
for word; do
  case $word in no-such-*) echo "E: Unable to locate package $word" >&2; exit 100 ;; esac
done
END
printf '#!/bin/sh\necho 0\n' >bin/id
printf '#!/bin/sh\n' | tee bin/sleep >bin/python3
chmod +x bin/*
"#;

/// A shell that finds the programs in `bin`, and few others.
fn own(scratch: &Scratch) -> Command {
    let mut script = scratch.command("sh");
    script.env("PATH", format!("{}:/usr/bin:/bin", scratch.path("bin").display()));
    script
}

/// Runs the script where these packages are missing. Returns the calls of the package manager, too.
fn setup(busy: &str, patience: &str, packages: &str) -> (Done, String) {
    let scratch = Scratch::new();
    scratch.sh(PROGRAMS).quiet(0);
    scratch.write("setup", fs::read(root().join(".ci/setup")).expect("the script"));
    scratch.write("packages", packages);
    scratch.write("busy", busy);
    scratch.write("calls", "");
    let mut script = own(&scratch);
    script.arg("./setup").env("SETUP_PATIENCE", patience);
    let done = done(&mut script);
    let calls = scratch.text("calls");
    (done, calls.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_package_manager_that_is_busy_is_waited_for() {
    let (done, calls) = setup("2", "600", "/no/such/program  one\n# comment\n/none  two\n");
    assert_eq!(
        (done.quiet(0), &calls[..]),
        (String::new(), "update update update install install install install")
    );
}

#[test]
fn waiting_has_an_end_and_other_errors_are_told_at_once() {
    let (done, calls) = setup("9", "0", "/none  one\n");
    let said = done.complaint(0);
    assert_eq!(calls, "update install");
    assert!(said.contains("SKIPPED: the tests that need one: "), "{said}");
    assert!(said.contains("Could not get lock"), "{said}");
    let (done, calls) = setup("0", "600", "/none  no-such-package\n/none  two\n");
    let said = done.complaint(0);
    assert_eq!(calls, "update install install");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("Unable to locate package no-such-package"), "{said}");
}

#[test]
fn nothing_is_installed_where_nothing_is_missing() {
    let (done, calls) = setup("0", "600", "sh  dash\n/bin/s*h  dash\n");
    assert_eq!((done.quiet(0), calls), (String::new(), String::new()));
}

/// A package of which this system has one half, and the other half can be fetched.
const INSTALLED: &str = r#"
mkdir -p bin system/usr/bin
echo program >system/usr/bin/installed
cat >bin/apt-get <<'END'
#!/bin/sh
for word; do case $word in
  Dir::Cache::archives=*) folder=${word#*=} ;;
  half) touch "$folder/half.deb" ;;
esac; done
END
cat >bin/dpkg-deb <<'END'
#!/bin/sh
mkdir -p "$3/usr/bin" && echo fetched >"$3/usr/bin/fetched"
END
cat >bin/dpkg-query <<'END'
#!/bin/sh
for word; do case $word in
  whole | half) echo suite; exit ;;
  other) exit 1 ;;
esac; done
echo 'suite installed whole'
echo 'else installed nothing'
END
cat >bin/dpkg <<END
#!/bin/sh
echo /.
echo $PWD/system/usr/bin/installed
END
printf '#!/bin/sh\n' >bin/apt-cache
chmod +x bin/*
"#;

#[test]
fn what_is_installed_is_not_fetched_and_not_skipped() {
    let scratch = Scratch::new();
    scratch.sh(INSTALLED).quiet(0);
    let run = |package: &str| {
        let mut script = own(&scratch);
        script.arg(root().join(".ci/unpack")).arg(package);
        script.env("CARGO_TARGET_DIR", scratch.path("target"));
        done(&mut script)
    };
    let unpacked = scratch.path("target/unpacked");
    let installed = scratch.path("system/usr/bin/installed").display().to_string();
    for (package, has_fetched) in [("whole", false), ("half", true)] {
        assert_eq!(run(package).quiet(0), "");
        let folder = unpacked.join(package);
        assert!(
            folder.join(".whole").exists() && folder.join(&installed[1..]).exists(),
            "{package}"
        );
        assert_eq!(folder.join("usr/bin/fetched").exists(), has_fetched, "{package}");
    }
    let said = run("other").complaint(0);
    assert!(said.contains("the tests that need other: it could not be fetched: no archive came"));
}
