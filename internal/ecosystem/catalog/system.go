package catalog

import "company/internal/ecosystem/cc"

// KnownPackage returns Debian's name of a package that a project installs by apt, and
// nothing for one that no check needs. Not ok means that none is known.
func KnownPackage(name string) (debian string, ok bool) { return cc.KnownPackage(name) }

// PackageOfProgram returns the package of Debian that has a program; empty: it is not known.
func PackageOfProgram(name string) string { return cc.PackageOfProgram(name) }

// DropRivals returns names of Debian packages without those that cannot be installed
// beside an earlier one. It calls dropped with both names of each pair.
func DropRivals(names []string, dropped func(kept, name string)) []string {
	return cc.DropRivals(names, dropped)
}
