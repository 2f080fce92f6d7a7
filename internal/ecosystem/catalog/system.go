package catalog

import "company/internal/ecosystem/cc"

// KnownPackage returns Debian's name of a package that a project installs by apt, or
// nothing where none is known.
func KnownPackage(name string) string { return cc.KnownPackage(name) }

// DropRivals returns names of Debian packages without those that cannot be installed
// beside an earlier one. It calls dropped with both names of each pair.
func DropRivals(names []string, dropped func(kept, name string)) []string {
	return cc.DropRivals(names, dropped)
}
