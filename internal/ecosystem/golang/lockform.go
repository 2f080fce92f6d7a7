package golang

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"company/internal/ecosystem"
)

var _ ecosystem.FormChecker = Ecosystem{}

// IsWritten reports whether a file is a go.mod or go.work. People write them, but the go command rewrites them. It is
// false for go.sum, in which the go command skips invalid lines.
func (Ecosystem) IsWritten(file string) bool {
	base := path.Base(file)
	return base == "go.mod" || base == "go.work"
}

// CheckForm returns an error if the go command does not read a file as it is. For example, instead of a full version
// the go command accepts a branch or a part of a version and resolves it.
func (Ecosystem) CheckForm(file string, text []byte) (err error) {
	requireExact := func(_, version string) (string, error) {
		if module.CanonicalVersion(version) != version {
			return "", fmt.Errorf("%.100q is not a full version", version)
		}
		return version, nil
	}
	remedy := "go mod tidy"
	switch path.Base(file) {
	case "go.mod":
		_, err = modfile.Parse("go.mod", text, requireExact)
	case "go.work":
		_, err = modfile.ParseWork("go.work", text, requireExact)
		remedy = "go work sync"
	}
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("run `%s` there: %.300s", remedy, first)
	}
	return nil
}
