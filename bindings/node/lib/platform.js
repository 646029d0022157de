// Finds the package with the native parts for this platform.
//
// Package managers install the one of `optionalDependencies` whose `os`, `cpu` and `libc` fit; nothing is downloaded
// or built at installation.

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Returns the name of the platform package, such as `stickler-mcp-linux-x64-gnu`. */
export function platformPackage() {
  const { platform, arch } = process;
  const suffix = platform === "linux" ? (isMusl() ? "-musl" : "-gnu") : platform === "win32" ? "-msvc" : "";
  return `stickler-mcp-${platform}-${arch}${suffix}`;
}

/** Returns the path of a file of the platform package; throws an error that says what to do if it is not installed. */
export function resolveNative(file) {
  const name = platformPackage();
  try {
    return require.resolve(`${name}/${file}`);
  } catch (cause) {
    throw new Error(
      `stickler-mcp: cannot find \`${file}\` of the package \`${name}\`. ` +
        "Install stickler-mcp without `--omit=optional`; if the platform is not supported, build it from source.",
      { cause },
    );
  }
}

/** Loads the native module. */
export function loadNative() {
  return require(resolveNative("stickler.node"));
}

function isMusl() {
  // glibc reports its version; musl has none.
  return !process.report.getReport().header.glibcVersionRuntime;
}
