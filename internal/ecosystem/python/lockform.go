package python

import (
	"fmt"

	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
)

var _ ecosystem.FormChecker = Ecosystem{}

// IsWritten reports whether the file is a lock file of uv, poetry, pdm or pipenv, a pylock.toml, or a
// requirements list. People write requirements lists, but pip reads each of their texts in exactly one way.
func (Ecosystem) IsWritten(file string) bool {
	name := findLockName(file)
	return lockForms[name].packages != "" || name == "Pipfile.lock" || isRequirements(file)
}

// CheckForm returns an error if a lock file cannot be read or a package in it has two kinds of sources.
func (e Ecosystem) CheckForm(file string, text []byte) error {
	if !e.IsWritten(file) {
		return nil
	}
	if isRequirements(file) {
		return checkRequirements(text)
	}
	if _, err := e.ParseLock(file, text); err != nil {
		return err
	}
	if findLockName(file) == "Pipfile.lock" {
		return checkPipenvLock(text)
	}
	packages, err := readAddressed(text)
	if err != nil {
		return err
	}
	var lock map[string]any
	if err := toml.DecodeOneSpelling(text, &lock); err != nil {
		return err
	}
	form := lockForms[findLockName(file)]
	if err := form.checkTexts(lock); err != nil {
		return err
	}
	if err := form.checkSharing(lock, packages); err != nil {
		return err
	}
	kindsOfSource := append([]string{"registry"}, form.sources...) // registry is uv's
	for _, pkg := range packages {
		source, isTable := pkg.Source.(map[string]any)
		if pkg.Source != nil && !isTable {
			return fmt.Errorf("the source of %q is not a table", pkg.Name)
		}
		kinds := 0
		for _, kind := range kindsOfSource {
			if source[kind] != nil {
				kinds++
			}
		}
		if kinds > 1 {
			return fmt.Errorf("%q has two sources", pkg.Name)
		}
	}
	return nil
}
