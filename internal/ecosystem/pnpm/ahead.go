package pnpm

import "company/internal/company"

// ListForAnySystem lists the packages of a lock file that pnpm requests on every system. Packages for some
// systems only name these systems and are left out. A package without a digest has its own address or is in
// the tree, and is left out too.
func (Ecosystem) ListForAnySystem(lock []byte) (out []company.Dependency) {
	for _, pkg := range readPackages(lock) {
		if pkg.version != "" && pkg.integrity != "" && pkg.tarball == "" && !pkg.ofSystem {
			out = append(out, pkg.findDependency())
		}
	}
	return out
}
