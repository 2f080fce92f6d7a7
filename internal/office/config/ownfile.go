package config

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
)

// ownSections are the sections that a user's own file for one repository may have. They set how the repository is
// built and tested, and which packages are fetched for it.
var ownSections = []string{"version", "container", "deps", "gates"}

// CheckoutID returns an id of a checkout for people and files: its folder's name, and a hash of its path.
func CheckoutID(path string) string {
	sum := sha256.Sum256([]byte(path))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(filepath.Base(path)))
	return strings.Trim(name, "-") + "-" + hex.EncodeToString(sum[:4])
}

// RepositoryFile returns the path of the user's own config file for the repository of a checkout. The file may not
// exist. It is outside of the repository, so that code in the repository cannot write it.
func RepositoryFile(env func(string) (string, bool), checkout string) (string, error) {
	if checkout == "" {
		return "", company.E(company.EUsage, "your own config needs a git checkout, and this is not one").
			Fix("go to the checkout, or change your own file for all: --user")
	}
	user, err := UserFile(env)
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(user), "repositories", CheckoutID(checkout)+".yaml"), nil
}

// loadOwnFile applies the user's own file for a repository. It needs no trust.
func (l *loader) loadOwnFile(path string) error {
	data, err := l.readFile(path)
	if data == nil || err != nil {
		return err
	}
	root, ps := parseYAML(path, data)
	l.problems = append(l.problems, ps...)
	if root.kind != nodeMap {
		return nil
	}
	root.fields = slices.DeleteFunc(root.fields, func(f nodeField) bool {
		misplaced := !slices.Contains(ownSections, f.key)
		if misplaced {
			l.problems = append(l.problems,
				problem{at: f.at, key: f.key, what: "does not belong into your own file for one repository",
					fix: "it may have container, deps and gates; company config set --user changes your file for all"})
		}
		return misplaced
	})
	l.applyTree(root)
	return nil
}
