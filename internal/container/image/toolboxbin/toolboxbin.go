// Package toolboxbin embeds the toolbox for each architecture of images. The toolbox is the small
// static program that is PID 1 in the company's containers. The binaries are built by
// scripts/build-toolbox.sh and are not in git. A fresh clone builds without them; Binary then returns
// an error with the command to run.
package toolboxbin

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"

	"company/internal/company"
)

// The pattern includes README.md, so that it always matches a file.
//
//go:embed README.md toolbox*
var embeddedFiles embed.FS

// Binary returns the Linux executable of the toolbox for an architecture, in the naming of Go and
// Docker (amd64, arm64). If there is none, it returns E_IMAGE.
func Binary(arch string) ([]byte, error) {
	if arch != "amd64" && arch != "arm64" {
		return nil, company.E(company.EImage, fmt.Sprintf("there is no toolbox for %q", arch)).
			Because("worker images are linux/amd64 or linux/arm64")
	}
	data, err := embeddedFiles.ReadFile("toolbox-linux-" + arch)
	if err != nil {
		return nil, company.E(company.EImage, "this program was built without the toolbox for "+arch).
			Because("go build alone does not build the toolbox").
			Fix("run `make`")
	}
	return data, nil
}

// Hash returns the SHA-256 of Binary. It is part of the key of images with the toolbox.
func Hash(arch string) (company.Hash, error) {
	data, err := Binary(arch)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return company.Hash(hex.EncodeToString(sum[:])), nil
}
