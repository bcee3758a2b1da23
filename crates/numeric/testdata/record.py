#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what the C library prints and reads: writes printf.tsv and strto.tsv beside itself.

Recorded with glibc on x86-64. Run again only to add rows; the tables are the authority for tests.
"""
import ctypes
import os
import random
import struct

libc = ctypes.CDLL("libc.so.6")
here = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(20)


def bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def from_bits(word):
    return struct.unpack("<d", struct.pack("<Q", word))[0]


def printed(form, argument):
    buffer = ctypes.create_string_buffer(2048)
    libc.snprintf(buffer, 2048, form.encode(), argument)
    return buffer.value.decode()


def record_printf():
    words = [0, 1 << 63, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF]
    words += [0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000000000]
    values = [1, -1, 0.5, 1.5, 2.5, 0.25, 0.125, 0.375, 0.005, 0.015, 0.045, 0.995, 9.995, 99.995, 0.05, 0.95, 9.95]
    values += [999999.5, 1e6, 999999.4, 123456.5, 0.0001, 0.00009999995, 1e-5, 1e5, 1e15, 2**53, 2**63, 2**64, 1e22, 1e100]
    values += [7155.14, 678.0, 7.42, 100.0, 2.0 / 3, 1e-300, 123456789.125, -0.001, -0.005, -2.5, 0.999999999]
    words += [bits(v) for v in values]
    words += [rng.getrandbits(64) for _ in range(60)]
    words += [bits(rng.uniform(-1000, 1000)) for _ in range(80)]
    words += [bits(rng.randrange(-4096, 4096) / 64) for _ in range(60)]
    words += [bits(10 ** rng.uniform(-12, 25)) for _ in range(60)]
    forms = ["%f", "%.f", "%.1f", "%5.1f", "%5.2f", "%6.2f", "%10.2f", "%-6.1f", "%-5.2f", "%-8.2f", "%-.1f", "%9.3f",
             "%20.15f", "%30.20f", "%-40.19f", "%g"]
    with open(os.path.join(here, "printf.tsv"), "w") as out:
        out.write("# format, bits of the argument (f64; the integer for %d and %x), text between < and >\n")
        for form in forms:
            for word in words:
                text = printed(form, ctypes.c_double(from_bits(word)))
                out.write(f"{form}\t{word:016x}\t<{text}>\n")
        for form in ["%d", "%4d", "%-10d", "%10d", "%x", "%8x", "%20x"]:
            for value in [0, 1, -1, 9, 10, 99, 12345, -12345, 2**31, -2**31, 2**63 - 1, -2**63, 0xDEADBEEF]:
                word = value % 2**64
                text = printed(form.replace("d", "ld").replace("x", "lx"), ctypes.c_ulong(word))
                out.write(f"{form}\t{word:016x}\t<{text}>\n")


def escape(raw):
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else f"\\x{b:02x}" for b in raw)


def record_strto():
    for name, result in [("strtod", ctypes.c_double), ("strtof", ctypes.c_float), ("strtol", ctypes.c_long)]:
        getattr(libc, name).restype = result

    def call(name, raw, *rest):
        buffer = ctypes.create_string_buffer(raw)
        end = ctypes.c_void_p()
        value = getattr(libc, name)(buffer, ctypes.byref(end), *rest)
        return value, end.value - ctypes.addressof(buffer)

    texts = """0 -0 +0 1 -1 +1 1. .5 -.5 . -. +. 1e5 1e 1e+ 1e- 1e+5 1E5 1.5e-3 1.e3 .e3 e5 e 007 12abc 1,5 1..2 --1 +-1 - + 0x
    0x1 0X1F 0x. 0x.8 0x1. 0x1.8 0x1.8p3 0x1p 0x1p+ 0x1p-1 0x1P+10 0xg 0x1.g -0x10 0x.p1 0x1p99999 0x1p-99999 0x0p99999
    0x1.fffffffffffff8 0x1.fffffffffffff7 0x1.fffffffffffff80000001 0x1.00000000000008 0x1.00000000000008000001 0x1.00000000000018
    0x1.000001 0x1.0000018 0x1.000001000001 0x1.ffffffp127 0x1.fffffep127 0x1.fffffffffffffp1023 0x1.fffffffffffff8p1023
    0x1p-1074 0x1p-1075 0x1.8p-1075 0x1.00001p-1075 0x1p-149 0x1p-150 0x1.8p-150 0x1p-1022 0x0.fffffffffffff8p-1022 0x123456789abcdef01234 0x0.000000000000000000001
    inf INF Inf infi infinit infinity INFINITY infinityx -inf +inf in i nan NaN -nan +nan nan( nan() nan(123) nan(0x1f nan(a-b) nan(a_b)x na n
    1e308 1e309 -1e309 1e-308 1e-323 1e-324 4.9e-324 2.4703282292062327e-324 2.4703282292062328e-324 1e99999999999999999999 1e-99999999999999999999 0e99999999999
    1.7976931348623157e308 1.7976931348623159e308 3.4028235e38 3.4028236e38 1.4e-45 7e-46 0.1 0.2 0.30000000000000004 9007199254740993 9007199254740992.9
    16777217 16777217.0000001 8388609.5 1.00000005960464477539 1.000000059604644775390625 1.00000005960464477539062500001
    2147483647 2147483648 4294967295 4294967296 -2147483648 -2147483649 9223372036854775807 9223372036854775808 -9223372036854775808
    -9223372036854775809 99999999999999999999999 7fffffffffffffff 8000000000000000 -8000000000000000 -8000000000000001 ff FFg 3x abc""".split()
    raws = [t.encode() for t in texts] + [b"", b" ", b" 1", b"\t\n\v\f\r 42", b"\x001", b"1 2", b" -5 ", b"- 5", b"\xa05", b"123\r\n", b"0x10 rest", b" +0x", b"\x0b7"]
    raws += [b"%d" % rng.getrandbits(rng.randrange(1, 90)) for _ in range(40)]
    raws += [("%.*e" % (rng.randrange(25), from_bits(rng.getrandbits(64)))).encode() for _ in range(100)]
    raws += [("%f" % rng.uniform(-1e5, 1e5)).encode() for _ in range(40)]
    raws += [("0x%x.%xp%d" % (rng.getrandbits(rng.randrange(1, 70)), rng.getrandbits(rng.randrange(1, 70)), rng.randrange(-1200, 1100))).encode() for _ in range(100)]
    with open(os.path.join(here, "strto.tsv"), "w") as out:
        out.write("# function, text (\\xNN: a byte), result (bits of floating-point numbers), bytes used (0 for atoi)\n")
        for raw in raws:
            value, used = call("strtod", raw)
            word = bits(value)
            if value != value:
                word = word >> 51 << 51  # the payload is not kept
            out.write(f"strtod\t{escape(raw)}\t{word:016x}\t{used}\n")
            value, used = call("strtof", raw)
            word = struct.unpack("<I", struct.pack("<f", value))[0]
            if value != value:
                word = 0xFFC00000 if raw.lstrip().startswith(b"-") else 0x7FC00000
            out.write(f"strtof\t{escape(raw)}\t{word:08x}\t{used}\n")
            for base in (10, 16):
                value, used = call("strtol", raw, base)
                out.write(f"strtol{base}\t{escape(raw)}\t{value}\t{used}\n")
            out.write(f"atoi\t{escape(raw)}\t{libc.atoi(raw)}\t0\n")


record_printf()
record_strto()
