# SPDX-License-Identifier: GPL-3.0-or-later
class Dbacl < Formula
  desc "Maximum-entropy n-gram text classifier"
  homepage "https://HOMEPAGE"
  # The release's archive with the crates; packaging/stamp writes the version.
  url "https://HOMEPAGE/releases/download/v2.0.0-alpha.1/dbacl-2.0.0-alpha.1-vendored.tar.xz"
  sha256 "SHA256_OF_THE_ARCHIVE"
  license "GPL-3.0-or-later"

  depends_on "rust" => :build

  def install
    system "make", "release"
    system "make", "install", "PREFIX=#{prefix}"
  end

  test do
    (testpath/"sea").write "the whale swam in the sea"
    (testpath/"law").write "the court heard the case"
    system bin/"dbacl", "-l", "sea-words", "sea"
    system bin/"dbacl", "-l", "law-words", "law"
    command = "echo the court | #{bin}/dbacl -v -c sea-words -c law-words"
    assert_equal "law-words\n", shell_output(command, 2)
  end
end
