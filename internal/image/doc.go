// Package image prepares the images that workers and gates run in.
//
// It owns the path from nothing (or a base pinned by digest) to an image that
// holds an operating system, the toolbox, a toolchain with its build cache,
// the project's locked dependencies and its history. Everything a worker needs
// is inside, because a worker has no network and no mounts.
//
// # Layers
//
//	base     Debian made by mmdebstrap, or a pulled image, flattened
//	dockerfile what the steps of the repository's own Dockerfile changed
//	go       the host's GOROOT, without tests and documents
//	gostd    the standard library, compiled for build, vet and test
//	debian   what Debian's packages of other toolchains add to the base
//	node     the host's Node and npm
//	rust     the host's Rust
//	gomod    the modules that the lock files of the base commit name
//	godeps   those modules and the base tree, compiled
//	pnpm     pnpm itself, out of npm's registry
//	pnpmdeps the packages that pnpm-lock.yaml files name
//	yarn     yarn itself, likewise
//	yarndeps the packages that yarn.lock files name
//	berry    a later yarn, likewise
//	berrydeps the packages that its lock files name
//	gyp      Node's headers, where install scripts may run
//	npm      the packages that package-lock.json files name
//	pip      what lock files of Python pin and its manifests and lists name, as wheels
//	pypath   where Python finds modules of the tree
//	pyplugins what stands for plugins of pytest that are not there
//	cargo    the crates that Cargo.lock files name
//	composer the packages that composer.lock files name
//	ready    the script that links dependencies into a fresh tree
//	setup    what the president's set-up commands changed
//	toolbox  PID 1 of a container
//	repo     the history of the base commit, a bare repository
//
// Each layer has a key: a hash of everything that went into it and of the key
// below. It is found again by a tag that carries its key, so a layer is built
// once on a machine; the whole image has a key of its own, and asking for an
// image that exists is one call to the daemon. The image store is the cache.
//
// # Promises
//
//   - Nothing of the host gets into a layer but the parts above: no
//     environment, no credentials, no resolver, no host name, no package mirror.
//   - No code of the project runs in preparation, on the host or elsewhere, but
//     that of its build where a build is a program of the project's own (configure,
//     CMakeLists.txt, meson.build): it runs as in a check, in a container without
//     network or registry, and only results of the compiler are taken (decision 0101).
//     Modules of Go are downloaded on the host from the text of go.mod and go.sum
//     alone (Install.Fetch); npm, pnpm, pip and cargo fetch from lists alone, without a script
//     of any package, in a container whose one link is its stdio, on which the
//     registries are served; the compiler runs in a container without network, mounts or
//     capabilities, and test binaries are linked but not started. Set-up
//     commands do run, as root and with what package tools need, but without
//     network and mounts too: they are the president's own commands. Their one
//     link is that stdio, on which apt reaches the Debian archives of the
//     host's
//     own apt sources and checks their signatures with Debian's keys. The list
//     of sources, the indices and the caches are not in the layer.
//   - The steps of a repository's Dockerfile run as set-up commands do, and have
//     files of the base commit beside them. Whether its text may be carried out is
//     the caller's to know (decision 0104).
//   - Programs run in containers of a container.Runtime alone, which compares
//     what the daemon made with what was asked before the start.
//   - What npm, pnpm, yarn and cargo install lies in the memory of their container, where
//     the host has that to spare, and is sent through the container's stdio; what finds no
//     room there is made on the disk. The layer is the same (decision 0145).
//   - A build has memory, room and time by the size of the base's tree. One that runs
//     out of memory or room is tried once more with twice as much, where the host has
//     it; then it is a person's. What a client fails at is an error with the line of its
//     output that says most, and one remedy.
//   - The daemon is asked for images and stopped containers, through a list of
//     allowed calls. Only those with this package's names are touched, and
//     deleted only when they carry its label.
//   - A cancelled or killed build leaves nothing that the next one for the same
//     key does not sweep, or of a layer that was finished the next build of all. Two
//     builders, in one process or in many, do not build the same layer twice: the second
//     waits.
//
// It does not run workers (package container does) and does not refresh a base
// by itself: remove the images to have them made anew.
package image
