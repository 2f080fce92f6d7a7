package service

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Choose gives the named services the accounts and the names of hosts by which a project's
// own files know them, and tells people which others those files run, and which versions.
// Auto among the names stands for those of the project's CI.
func Choose(t *ecosystem.Tree, names []string) []Wish {
	found, others := Find(t)
	auto := slices.Contains(names, Auto)
	var chosen []string
	add := func(name string) {
		if name != Auto && !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	for _, name := range names {
		add(name)
	}
	for _, f := range found {
		if auto && f.OfCI {
			add(f.Name)
		}
	}
	var out []Wish
	for _, n := range chosen {
		w := Wish{Name: n}
		for _, f := range found {
			if f.Name == n && w.Account == (Account{}) {
				w.Account = f.Account
				noteVersion(t, f)
			}
			if f.Name == n {
				w.Hosts = append(w.Hosts, f.Hosts...)
			}
		}
		out = append(out, w)
	}
	if auto && len(chosen) > 0 {
		t.AddNote("beside the checks: %s, which the CI runs or gates.services names", strings.Join(chosen, ", "))
	}
	noteOthers(t, found, chosen, auto)
	for _, name := range others {
		t.AddNote("CI runs %s beside its jobs, which Debian does not have: an image that has it (container.dockerfile) and a gates.test that starts it bring it", ecosystem.PrintablePath(name))
	}
	return out
}

// maxOthers bounds the notes about services that are none of ours.
const maxOthers = 4

// noteOthers says which services could be started as well.
func noteOthers(t *ecosystem.Tree, found []Found, chosen []string, auto bool) {
	var missing, files []string
	for _, s := range servers {
		for _, f := range found {
			if f.Name != s.name || slices.Contains(chosen, f.Name) {
				continue
			}
			if !slices.Contains(missing, f.Name) {
				missing = append(missing, f.Name)
			}
			if file := ecosystem.PrintablePath(f.File); !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	all := append(slices.Clone(chosen), missing...)
	if auto {
		t.AddNote("%s: named in %s; started where a check of the base looks for it, and always with gates.services: [%s]", strings.Join(missing, ", "), strings.Join(files, ", "), strings.Join(all, ", "))
		return
	}
	t.AddNote("%s: named in %s; to have it beside checks and workers, set gates.services: [%s]", strings.Join(missing, ", "), strings.Join(files, ", "), strings.Join(all, ", "))
}

var majorVersion = lazyregexp.New(`:v?([0-9]+)`)

// noteVersion says where a project's file asks for another version than Debian has.
func noteVersion(t *ecosystem.Tree, f Found) {
	s, _ := findServer(f.Name)
	m := majorVersion.FindStringSubmatch(expandVariables(f.Image))
	if major, _, _ := strings.Cut(s.version, "."); m != nil && (m[1] != major || imageName(f.Image) == "mysql") {
		t.AddNote("%s asks for %s; the image has %s %s of Debian", ecosystem.PrintablePath(f.File), ecosystem.PrintablePath(f.Image), s.product, s.version)
	}
}
