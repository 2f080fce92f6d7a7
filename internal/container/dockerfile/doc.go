// Package dockerfile reads a repository's description of its image: a Dockerfile, or
// a devcontainer.json that refers to one.
//
// It translates the description into a Recipe: the base image, and steps that a build
// container can run one after another. BuildKit's own parser reads the grammar of
// Dockerfiles (docs/decisions/images.md). This package defines how instructions are executed here.
//
// It guarantees:
//
//   - Texts come from a reader of the caller, and files are names and object ids of a
//     commit. The package opens no files of the host and starts no programs.
//   - The same texts, files and base give the same Recipe.
//   - A Recipe stays within the policy of build containers. An instruction that needs
//     more (a network, a secret, a mount, a device, more rights) is an error with its
//     line and a fix. It is never silently skipped.
//   - Instructions that only describe how to start the image (CMD, EXPOSE and similar
//     ones) are skipped, and one note lists them.
//
// Package image builds the images.
package dockerfile
