package generate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// linked is a package that a program is made of, as go list names it.
type linked struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version string }
	}
}

// licenceFile is what a licence or a notice is called.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense)([.-].*)?$`)

// licences are the families of licences that may be shipped, each with a phrase of its text.
var licences = []struct {
	name  string
	words *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License\s+Version 2\.0`)},
	{"MPL-2.0", regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`)},
	{"BSD", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge`)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, and/?(or)? distribute this software`)},
	{"Unlicense", regexp.MustCompile(`This is free and unencumbered software`)},
	{"CC0-1.0", regexp.MustCompile(`CC0 1\.0`)},
}

// Notices is the text of all licences of what the programs of the tree contain. A
// module without a licence, or with one of no known family, is an error.
func Notices(ctx context.Context, root string, programs ...string) ([]byte, error) {
	packages, err := listLinked(ctx, root, programs)
	if err != nil {
		return nil, err
	}
	texts := map[string]map[string]string{} // by module, by file
	add := func(of, name, file string) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if texts[of] == nil {
			texts[of] = map[string]string{}
		}
		texts[of][name] = strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
		return nil
	}
	for _, p := range packages {
		of, top := "", ""
		switch {
		case p.Standard:
			of, top = "The Go standard library", goRoot(ctx)
			p.Dir = top
		case p.Module == nil:
			continue
		case p.Module.Main:
			of, top = "Parts of company itself that are of others", p.Module.Dir
		default:
			of, top = p.Module.Path+" "+p.Module.Version, p.Module.Dir
			texts[of] = orEmpty(texts[of])
		}
		// A package may have a licence of its own beside its module's.
		for dir := p.Dir; ; dir = filepath.Dir(dir) {
			if p.Module != nil && p.Module.Main && dir == top {
				break
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.IsDir() || !licenceFile.MatchString(e.Name()) {
					continue
				}
				rel, err := filepath.Rel(top, filepath.Join(dir, e.Name()))
				if err != nil {
					return nil, err
				}
				if err := add(of, filepath.ToSlash(rel), filepath.Join(dir, e.Name())); err != nil {
					return nil, err
				}
			}
			if dir == top || len(dir) <= len(top) {
				break
			}
		}
	}
	return renderNotices(texts)
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	return m
}

func renderNotices(texts map[string]map[string]string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("What company contains of others, with their licences.\n\n")
	var modules []string
	for name, files := range texts {
		modules = append(modules, name)
		if len(familiesOf(files)) == 0 {
			return nil, fmt.Errorf("%s has no licence of a known family", name)
		}
	}
	slices.Sort(modules)
	for _, name := range modules {
		fmt.Fprintf(&b, "  %s: %s\n", name, strings.Join(familiesOf(texts[name]), ", "))
	}
	for _, name := range modules {
		var files []string
		for file := range texts[name] {
			files = append(files, file)
		}
		slices.Sort(files)
		for _, file := range files {
			fmt.Fprintf(&b, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("-", 72), name, file, texts[name][file])
		}
	}
	return b.Bytes(), nil
}

// familiesOf names the families of licences in the texts.
func familiesOf(files map[string]string) []string {
	var found []string
	for _, l := range licences {
		for _, text := range files {
			if l.words.MatchString(text) {
				found = append(found, l.name)
				break
			}
		}
	}
	return found
}

func listLinked(ctx context.Context, root string, programs []string) ([]linked, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-json=Dir,Standard,Module"}, programs...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, errs.String())
	}
	var all []linked
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p linked
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func goRoot(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
