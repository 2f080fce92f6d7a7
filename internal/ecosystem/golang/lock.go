package golang

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Registry returns the module proxy. The go command requests every prefix of a package's path and stops its search
// after any refusal other than "not found".
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
		return ecosystem.NameError(name, "the path of a Go module").
			Fix("name the module, not a package or a URL: example.com/owner/name")
	}
	if version != "" && (!semver.IsValid(version) || module.CanonicalVersion(version) != version ||
		module.Check(name, version) != nil) {
		return ecosystem.NameError(version, "a version of that Go module").
			Fix("write it in full, as v1.2.3, or leave it out for the newest")
	}
	return nil
}

// AddCommand returns the go get command for a module.
func (Ecosystem) AddCommand(dependency company.Dependency) string {
	if dependency.Ecosystem != ecosystem.Go {
		return ""
	}
	return "go get " + dependency.Name + "@" + dependency.Version + " (and go mod tidy when the code uses it)"
}

// IsLockFile reports whether a file lists modules.
func (Ecosystem) IsLockFile(file string) bool {
	base := path.Base(file)
	return slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum"}, base)
}

// ParseLock lists the modules in a file.
func (Ecosystem) ParseLock(file string, text []byte) ([]company.Dependency, error) {
	switch path.Base(file) {
	case "go.mod", "go.work":
		return parseGoMod(text)
	}
	return parseGoSum(text), nil
}

// parseGoMod lists the modules of a go.mod or of a go.work, which has the same syntax. It ignores directives of later
// Go versions.
func parseGoMod(text []byte) (out []company.Dependency, err error) {
	f, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return nil, fmt.Errorf("it is not a go.mod")
	}
	for _, r := range f.Require {
		out = append(out, company.Dependency{Ecosystem: ecosystem.Go, Name: r.Mod.Path, Version: r.Mod.Version})
	}
	for _, statement := range f.Syntax.Stmt {
		switch s := statement.(type) {
		case *modfile.Line:
			out = append(out, readReplacement(s.Token)...)
		case *modfile.LineBlock:
			for _, line := range s.Line {
				out = append(out, readReplacement(append(slices.Clone(s.Token), line.Token...))...)
			}
		}
	}
	return out, nil
}

// readReplacement returns the module that a replace line substitutes. It is fetched under its own name.
func readReplacement(tokens []string) []company.Dependency {
	arrow := slices.Index(tokens, "=>")
	if tokens[0] != "replace" || arrow < 0 || len(tokens) != arrow+3 {
		return nil // a replacement by a folder has no version
	}
	text := func(token string) string {
		if plain, err := strconv.Unquote(token); err == nil {
			return plain
		}
		return token
	}
	return []company.Dependency{{Ecosystem: ecosystem.Go, Name: text(tokens[arrow+1]), Version: text(tokens[arrow+2])}}
}

func parseGoSum(text []byte) (out []company.Dependency) {
	for _, digest := range readGoSum(text) {
		out = append(out, digest.Dependency)
	}
	return slices.Compact(out)
}

// modForm is the form of digests of a version's go.mod instead of its files.
const modForm = "go.mod "

// readGoSum reads the lines of a go.sum: digests of each version's files and of its go.mod.
func readGoSum(text []byte) (out []ecosystem.FileDigest) {
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) != 3 {
			continue
		}
		version, isMod := strings.CutSuffix(f[1], "/go.mod")
		if module.Check(f[0], version) != nil {
			continue
		}
		digest := ecosystem.FileDigest{
			Dependency: company.Dependency{Ecosystem: ecosystem.Go, Name: f[0], Version: version},
			Sum:        f[2], Of: ecosystem.OfRegistry,
		}
		if isMod {
			digest.Sum, digest.Form = modForm+f[2], modForm
		}
		out = append(out, digest)
	}
	return out
}

// ParseFileDigests returns the digests of a go.sum.
func (Ecosystem) ParseFileDigests(file string, text []byte) []ecosystem.FileDigest {
	if strings.HasSuffix(path.Base(file), ".sum") {
		return readGoSum(text)
	}
	return nil
}

// FindAddresses returns the digests of a version's files on a proxy, in the form of go.sum. It reads the zip file
// only if its digest is in wanted.
func (Ecosystem) FindAddresses(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency, wanted []string,
) (out []string, err error) {
	hasMod := func(sum string) bool { return strings.HasPrefix(sum, modForm) }
	hasZip := func(sum string) bool { return sum != "" && !hasMod(sum) }
	if slices.ContainsFunc(wanted, hasMod) {
		sum, err := hashMod(ctx, fetcher, dependency)
		if err != nil {
			return nil, err
		}
		out = append(out, modForm+sum)
	}
	if slices.ContainsFunc(wanted, hasZip) {
		sum, err := hashZip(ctx, fetcher, dependency)
		if err != nil {
			return nil, err
		}
		out = append(out, sum)
	}
	return out, nil
}
