package catalog

import "company/internal/ecosystem/cc"

// KnownPackage returns Debian's name of a package that a project installs with apt. The name is empty for a package
// that no check needs. It returns false if the package is unknown.
func KnownPackage(name string) (debian string, ok bool) { return cc.KnownPackage(name) }

// PackageOfProgram returns the Debian package that has a program, or "" if it is unknown.
func PackageOfProgram(name string) string { return cc.PackageOfProgram(name) }

// DropRivals returns names of Debian packages without those that cannot be installed
// beside an earlier one. It calls dropped with both names of each pair.
func DropRivals(names []string, dropped func(kept, name string)) []string {
	return cc.DropRivals(names, dropped)
}
