// Package dockerfile reads how a repository describes its image: a Dockerfile, or a
// devcontainer.json that names one.
//
// It owns the translation of such a text into a Recipe: the image to start from, and
// steps that a build container can carry out one after another. The grammar of
// Dockerfiles is BuildKit's own parser (decision 0104); what the instructions mean here
// is this package's.
//
// It promises:
//
//   - Texts come from a reader that the caller gives, and files are names and object
//     ids of a commit: no file of a host is opened and no program is started.
//   - The same texts, files and base give the same Recipe.
//   - A Recipe asks for nothing beyond the policy of build containers. An instruction
//     that needs more (a network, a secret, a mount, a device, more rights) is an error
//     with its line and a remedy; it is never left out in silence.
//   - Instructions that only describe how the image would be started (CMD, EXPOSE and
//     their like) are left out, and named in one note.
//
// It does not build: package image does.
package dockerfile
