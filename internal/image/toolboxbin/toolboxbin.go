// Package toolboxbin embeds the toolbox, the small static program that is
// PID 1 of the company's containers, for each architecture that an image may
// have. The binaries are built by scripts/build-toolbox.sh and not kept in
// git: a fresh clone builds without them, and Binary then says what to run.
package toolboxbin

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"

	"company/internal/company"
)

// The pattern matches this file, too, so that it always matches something.
//
//go:embed README.md toolbox*
var embeddedFiles embed.FS

// Binary is the toolbox for an architecture as Go and Docker name it (amd64,
// arm64): an executable for Linux. Without one the error is E_IMAGE.
func Binary(arch string) ([]byte, error) {
	if arch != "amd64" && arch != "arm64" {
		return nil, company.E(company.EImage, fmt.Sprintf("there is no toolbox for %q", arch)).
			Because("worker images are linux/amd64 or linux/arm64")
	}
	data, err := embeddedFiles.ReadFile("toolbox-linux-" + arch)
	if err != nil {
		return nil, company.E(company.EImage, "this program was built without the toolbox for "+arch).
			Because("the toolbox is a build product of its own, which the plain go build does not make").
			Fix("run `make`")
	}
	return data, nil
}

// Hash is the SHA-256 of Binary: images that hold it are keyed by it.
func Hash(arch string) (company.Hash, error) {
	data, err := Binary(arch)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return company.Hash(hex.EncodeToString(sum[:])), nil
}
