package rust

import (
	"path"
	"slices"
	"strings"

	"company/internal/boundedparse/toml"
	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// The files by which cargo knows what a project is made of.
const (
	manifest = "Cargo.toml"
	lockFile = "Cargo.lock"
)

var nameRE = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// Registry is that of crates.
func (Ecosystem) Registry() ecosystem.Registry {
	return ecosystem.Registry{Name: ecosystem.Crates, CheckName: checkName, Canonical: canonicalName}
}

func checkName(name, version string) error {
	if !nameRE.MatchString(name) {
		return ecosystem.NameError(name, "the name of a crate")
	}
	return ecosystem.CheckSemver(version)
}

func canonicalName(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}

// AddCommand is cargo's.
func (Ecosystem) AddCommand(d company.Dependency) string {
	if d.Ecosystem != ecosystem.Crates {
		return ""
	}
	return "cargo add " + d.Name + "@" + strings.SplitN(d.Version, "+", 2)[0]
}

// IsLockFile says whether a file is cargo's lock file.
func (Ecosystem) IsLockFile(file string) bool { return path.Base(file) == lockFile }

// ParseLock lists the crates of registries that a lock file names. Members of
// the workspace and git repositories have another source, or none.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	return parseLock(text, func(source string) bool {
		return strings.HasPrefix(source, "registry+") || strings.HasPrefix(source, "sparse+")
	})
}

// parseLock lists the crates of a lock file with a source that counts.
func parseLock(text []byte, counts func(source string) bool) (out []company.Dependency, err error) {
	var lock struct {
		Package []struct {
			Name, Version string
			Source        any
		}
	}
	if err := toml.DecodeOneSpelling(text, &lock); err != nil {
		return nil, err
	}
	for _, p := range lock.Package {
		if source, _ := p.Source.(string); counts(source) {
			out = append(out, company.Dependency{Ecosystem: ecosystem.Crates, Name: p.Name, Version: p.Version})
		}
	}
	return out, nil
}

// PackagePath is the path of a crate's file.
func (Ecosystem) PackagePath(d company.Dependency) string {
	return "dl/" + d.Name + "/" + d.Version + "/download"
}

// publicIndexes are those of crates.io, as lock files name them: what is fetched in its
// place has its crates.
var publicIndexes = []string{"registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"}

// ListForAnySystem lists the crates of a lock file: cargo asks for those of all systems.
// A crate of another registry has a name that no other is to hear.
func (Ecosystem) ListForAnySystem(text []byte) []company.Dependency {
	all, err := parseLock(text, func(source string) bool { return slices.Contains(publicIndexes, source) })
	if err != nil {
		return nil // cargo reports its fault
	}
	return all
}
