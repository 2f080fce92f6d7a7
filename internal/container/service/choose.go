package service

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// Choose returns the named services with the accounts and host names in the project's own files. Auto
// among the names stands for the services of the project's CI. Choose also notes other services in
// those files, and differing versions.
func Choose(tree *ecosystem.Tree, names []string) []Wish {
	found, others := Find(tree)
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
		wish := Wish{Name: n}
		for _, f := range found {
			if f.Name == n && wish.Account == (Account{}) {
				wish.Account = f.Account
				noteVersion(tree, f)
			}
			if f.Name == n {
				wish.Hosts = append(wish.Hosts, f.Hosts...)
			}
		}
		out = append(out, wish)
	}
	if auto && len(chosen) > 0 {
		tree.AddNote("beside the checks: %s, which the CI runs or gates.services names", strings.Join(chosen, ", "))
	}
	noteOthers(tree, found, chosen, auto)
	for _, name := range others {
		tree.AddNote("CI runs %s beside its jobs, which Debian does not have: an image that has it (container.dockerfile) "+
			"and "+
			"a gates.test that starts it bring it", ecosystem.PrintablePath(name))
	}
	return out
}

// maxOthers limits the notes about services that we do not provide.
const maxOthers = 4

// noteOthers notes services that could also be started.
func noteOthers(tree *ecosystem.Tree, found []Found, chosen []string, auto bool) {
	var missing, files []string
	for _, server := range servers {
		for _, f := range found {
			if f.Name != server.name || slices.Contains(chosen, f.Name) {
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
		tree.AddNote("%s: named in %s; started where a check of the base looks for it, and always with gates.services: [%s]",
			strings.Join(missing, ", "), strings.Join(files, ", "), strings.Join(all, ", "))
		return
	}
	tree.AddNote("%s: named in %s; to have it beside checks and workers, set gates.services: [%s]",
		strings.Join(missing, ", "), strings.Join(files, ", "), strings.Join(all, ", "))
}

var majorVersion = lazyregexp.New(`:v?([0-9]+)`)

// noteVersion notes a project's file that requests a different version than Debian has.
func noteVersion(tree *ecosystem.Tree, found Found) {
	server, _ := findServer(found.Name)
	m := majorVersion.FindStringSubmatch(expandVariables(found.Image))
	if major, _, _ := strings.Cut(server.version, "."); m != nil && (m[1] != major || imageName(found.Image) == "mysql") {
		tree.AddNote("%s asks for %s; the image has %s %s of Debian", ecosystem.PrintablePath(found.File),
			ecosystem.PrintablePath(found.Image), server.product, server.version)
	}
}
