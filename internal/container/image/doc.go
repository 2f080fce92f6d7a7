// Package image prepares the images in which workers and gates run.
//
// It starts from an empty file system, or from a base pinned by digest. The result is an
// image with an operating system, the toolbox, a toolchain with its build cache, the
// project's locked dependencies and its history. The image contains everything that a
// worker needs, because a worker has no network and no mounts.
//
// # Layers
//
//	base     Debian made by mmdebstrap, or a pulled image, flattened
//	dockerfile the changes by the steps of the repository's own Dockerfile
//	go       the host's GOROOT, without tests and documents
//	gostd    the standard library, compiled for build, vet and test
//	debian   the additions of other toolchains' Debian packages to the base
//	node     the host's Node and npm
//	rust     the host's Rust
//	gomod    the modules in the lock files of the base commit
//	godeps   those modules and the base tree, compiled
//	pnpm     pnpm itself, from npm's registry
//	pnpmdeps the packages in pnpm-lock.yaml files
//	yarn     yarn itself, from npm's registry
//	yarndeps the packages in yarn.lock files
//	berry    a later version of yarn, from npm's registry
//	berrydeps the packages in its lock files
//	gyp      Node's headers, if install scripts may run
//	npm      the packages in package-lock.json files
//	pip      the packages in Python's lock files, manifests and lists, as wheels
//	pypath   the paths at which Python finds modules of the tree
//	pyplugins replacements for missing pytest plugins
//	cargo    the crates in Cargo.lock files
//	composer the packages in composer.lock files
//	ready    the script that links dependencies into a fresh tree
//	setup    the changes by the president's set-up commands
//	agents   a program of others that works as an agent
//	toolbox  PID 1 of a container
//	repo     the history of the base commit, a bare repository
//
// Each layer has a key: a hash of all its inputs and of the key of the layer below. A
// layer is found by a tag that contains its key, so it is built once per machine. The
// whole image has its own key. A request for an existing image takes one call to the
// daemon. The image store is the cache.
//
// # Guarantees
//
//   - Only the parts above get from the host into a layer: no environment, no
//     credentials, no resolver, no host name, no package mirror.
//   - No code of the project runs during preparation, on the host or elsewhere. The
//     exception is a build that is a program of the project (configure, CMakeLists.txt,
//     meson.build). It runs as in a check, in a container without network or registry,
//     and only results of the compiler are kept (docs/decisions/ecosystems.md).
//   - Go modules are downloaded on the host, using only the text of go.mod and go.sum
//     (Install.Fetch). npm, pnpm, pip and cargo fetch only from lists and run no package
//     scripts. They run in a container whose only connection is its stdio, through which
//     the registries are served. The compiler runs in a container without network, mounts
//     or capabilities. Test binaries are linked but not started.
//   - Set-up commands do run, as root and with the capabilities of package tools, but
//     also without network and mounts: they are the president's own commands. Their only
//     connection is stdio. Through it apt reaches the Debian archives of the host's own
//     apt sources, and checks their signatures with Debian's keys. The list of sources,
//     the indices and the caches are not in the layer.
//   - The steps of a repository's Dockerfile run like set-up commands, with files of the
//     base commit. The caller must ensure that its text may be executed (docs/decisions/images.md).
//   - Programs run only in containers of a container.Runtime. Before the start, it
//     compares the daemon's container with the request.
//   - Packages of npm, pnpm, yarn and cargo are kept in the memory of their container, if
//     the host can spare it, and sent through the container's stdio. If they do not fit,
//     they are written to disk. The layer is the same (docs/decisions/images.md).
//   - The memory, disk space and time of a build depend on the size of the base's tree. A
//     build that runs out of memory or space is tried once more with twice as much, if the
//     host has it. If that fails, the error needs a person. The error of a failed client
//     has the most useful line of its output, and one fix.
//   - The daemon is only asked for images and stopped containers, through a list of
//     allowed calls. Only those with this package's names are used, and only those with its
//     label are deleted.
//   - The leftovers of a cancelled or killed build are removed by the next build for the
//     same key, or by the next build of all if the layer was finished. Two builders, in one
//     or several processes, do not build the same layer twice: the second one waits.
//
// The package does not run workers (package container does). It does not refresh a base by
// itself: remove the images to have them built again.
package image
