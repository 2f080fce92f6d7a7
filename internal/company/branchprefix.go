package company

import (
	"fmt"
	"strings"
)

// MaxBranchPrefix limits the length of git.integration_branch in bytes. The task and the office are added to it, and
// forges and file systems take names of up to 255 bytes.
const MaxBranchPrefix = 150

// IsProtectedBranch reports whether a branch, by its short or full name, may only be moved by a person. It ignores
// case, because on some disks Main is main.
func IsProtectedBranch(branch string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(branch), "refs/"), "heads/")
	return name == "main" || name == "master" || name == "head"
}

// branchFix is the fix for a prefix that cannot be used.
const branchFix = "write folders and a name of ASCII letters, digits and . _ - + = @ #, such as develop, feature/company " +
	"or users/jane/PROJ-123"

// CheckBranchPrefix returns an error for a text that cannot be git.integration_branch. It applies git's rules for
// names of references. It also refuses names that only a person may move, the folder of the agents' own branches, and
// characters that mean something to a shell, because commands for people contain the name.
func CheckBranchPrefix(prefix string) error {
	if IsProtectedBranch(prefix) {
		return E(EProtected, fmt.Sprintf("the company never moves %q", prefix)).
			Because("it writes only its own branches, never main or master").
			Fix("set git.integration_branch to another name, such as develop")
	}
	if why := branchPrefixFault(prefix); why != "" {
		return E(EInvalid, fmt.Sprintf("%q cannot be git.integration_branch", prefix)).Because(why).Fix(branchFix)
	}
	return nil
}

// branchPrefixFault returns what is wrong with a prefix, or "".
func branchPrefixFault(prefix string) string {
	switch {
	case prefix == "":
		return "it is empty"
	case len(prefix) > MaxBranchPrefix:
		return fmt.Sprintf("it is longer than %d bytes", MaxBranchPrefix)
	case strings.HasPrefix(prefix, "refs/"):
		return "it is a reference and not the name of a branch"
	case strings.HasPrefix(prefix, "agent/"):
		return "agent/ has the branches of agents, which stay in the office"
	case strings.Contains(prefix, ".."):
		return "git takes no .. in a name"
	}
	for _, r := range prefix {
		if !isBranchRune(r) {
			return fmt.Sprintf("it contains %q", r)
		}
	}
	for i, part := range strings.Split(prefix, "/") {
		switch {
		case part == "":
			return "a folder or the name is empty"
		case part[0] == '.' || part[0] == '-' || i == 0 && strings.ContainsRune("+=@#", rune(part[0])):
			return fmt.Sprintf("%q begins with %q", part, part[0])
		case strings.HasSuffix(part, ".lock"):
			return "git takes no name that ends in .lock"
		}
	}
	return ""
}

func isBranchRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+=@#/", r)
}
