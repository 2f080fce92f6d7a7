package golang

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Registry is the module proxy. The go command asks for every prefix of a
// package's path, and takes any refusal but "not found" for the end of its search.
func (Ecosystem) Registry() ecosystem.Registry {
	return ecosystem.Registry{Name: ecosystem.Go, CheckName: checkName, WhyPrivate: whyPrivate, RefusedAsNotFound: true}
}

func whyPrivate(patterns, name string) string {
	if !module.MatchPrefixPatterns(patterns, name) {
		return ""
	}
	return "go module " + name + " is private (GOPRIVATE)"
}

func checkName(name, version string) error {
	if err := module.CheckPath(name); err != nil || len(name) > 200 {
		return ecosystem.NameError(name, "the path of a Go module").Fix("name the module, not a package or a URL: example.com/owner/name")
	}
	if version != "" && (!semver.IsValid(version) || module.CanonicalVersion(version) != version || module.Check(name, version) != nil) {
		return ecosystem.NameError(version, "a version of that Go module").Fix("write it in full, as v1.2.3, or leave it out for the newest")
	}
	return nil
}

// AddCommand is go get's.
func (Ecosystem) AddCommand(d company.Dependency) string {
	if d.Ecosystem != ecosystem.Go {
		return ""
	}
	return "go get " + d.Name + "@" + d.Version + " (and go mod tidy when the code uses it)"
}

// IsLockFile says whether a file names modules.
func (Ecosystem) IsLockFile(file string) bool {
	base := path.Base(file)
	return base == "go.mod" || base == "go.sum" || base == "go.work.sum"
}

// ParseLock lists the modules that a file names.
func (Ecosystem) ParseLock(file string, text []byte) ([]company.Dependency, error) {
	if path.Base(file) == "go.mod" {
		return parseGoMod(text)
	}
	return parseGoSum(text), nil
}

func parseGoMod(text []byte) (out []company.Dependency, err error) {
	f, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return nil, fmt.Errorf("it is no go.mod")
	}
	for _, r := range f.Require {
		out = append(out, company.Dependency{Ecosystem: ecosystem.Go, Name: r.Mod.Path, Version: r.Mod.Version})
	}
	// A replacement is fetched under its own name. ParseLax skips it.
	if strict, err := modfile.Parse("go.mod", text, nil); err == nil {
		for _, r := range strict.Replace {
			if r.New.Version != "" {
				out = append(out, company.Dependency{Ecosystem: ecosystem.Go, Name: r.New.Path, Version: r.New.Version})
			}
		}
	}
	return out, nil
}

func parseGoSum(text []byte) (out []company.Dependency) {
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) != 3 {
			continue
		}
		v := strings.TrimSuffix(f[1], "/go.mod")
		if module.Check(f[0], v) == nil {
			out = append(out, company.Dependency{Ecosystem: ecosystem.Go, Name: f[0], Version: v})
		}
	}
	return slices.Compact(out)
}
