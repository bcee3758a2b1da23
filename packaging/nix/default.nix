# SPDX-License-Identifier: GPL-3.0-or-later
# In a checkout: nix-build -E 'with import <nixpkgs> {}; callPackage ./packaging/nix {}'
{ lib, rustPlatform }:

rustPlatform.buildRustPackage {
  pname = "dbacl";
  version = "2.0.0-alpha.1";
  src = lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;

  # The recorded cases on the programs that are installed; cargo's tests would build all anew.
  checkPhase = ''
    runHook preCheck
    testdata/golden/run "$(dirname "$(find target -path '*/release/dbacl-suite')")"
    runHook postCheck
  '';

  installPhase = ''
    runHook preInstall
    make install PREFIX="$out" BIN="$(dirname "$(find target -path '*/release/dbacl-suite')")"
    runHook postInstall
  '';

  # Programs and libraries of the whole workspace.
  cargoBuildFlags = [ "--package" "dbacl" "--bin" "dbacl" "--package" "dbacl-suite" "--bin" "dbacl-suite" ];

  meta = {
    description = "Maximum-entropy n-gram text classifier";
    license = lib.licenses.gpl3Plus;
    mainProgram = "dbacl";
    platforms = lib.platforms.linux;
  };
}
