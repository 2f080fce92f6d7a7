package service

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Choose gives the services that a config names the accounts and the names of hosts by
// which a project's own files know them, and tells people which others those files run, and which
// versions.
func Choose(t *ecosystem.Tree, names []string) []Wish {
	found, others := Find(t)
	var out []Wish
	for _, n := range names {
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
	noteProposal(t, found, names)
	for _, name := range others {
		t.AddNote("CI runs %s beside its jobs: that cannot be started here (there is: %s)", ecosystem.PrintablePath(name), strings.Join(Names(), ", "))
	}
	return out
}

// maxOthers bounds the notes about services that are none of ours.
const maxOthers = 4

// noteProposal says which services could be started.
func noteProposal(t *ecosystem.Tree, found []Found, names []string) {
	var missing, files []string
	for _, s := range servers {
		for _, f := range found {
			if f.Name != s.name || slices.Contains(names, f.Name) {
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
	if len(missing) > 0 {
		all := append(slices.Clone(names), missing...)
		t.AddNote("%s: named in %s; to have it beside checks and workers, set gates.services: [%s]", strings.Join(missing, ", "), strings.Join(files, ", "), strings.Join(all, ", "))
	}
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
