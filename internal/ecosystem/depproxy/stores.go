package depproxy

import "context"

// Stores holds two caches of the operator's registries: one for every repository, and one for repositories that may
// use the operator's logins. They share no files, so a file that was fetched with a login is not available to other
// repositories.
type Stores struct {
	public, withLogins *Store
	mayUseLogins       func(ctx context.Context, checkout string) bool
}

// OpenStores opens the caches below dir. Logins for hosts may be used by every repository. may reports whether the
// repository of a checkout may use the other logins.
func OpenStores(
	dir string, up Upstreams, hosts []string, may func(ctx context.Context, checkout string) bool,
) (*Stores, error) {
	all := up.WithoutLogins(hosts)
	open, err := Open(dir, all)
	if err != nil {
		return nil, err
	}
	stores := &Stores{public: open, mayUseLogins: may}
	if !all.withholdsAny() {
		return stores, nil
	}
	if stores.withLogins, err = Open(dir+"-by-login", up); err != nil {
		open.Close()
		return nil, err
	}
	return stores, nil
}

// NewSingleStore returns Stores with one store for all repositories.
func NewSingleStore(s *Store) *Stores { return &Stores{public: s} }

// Each calls do for every store. A nil Stores has none. It means an office without registries.
func (s *Stores) Each(do func(*Store)) {
	if s == nil {
		return
	}
	for _, one := range []*Store{s.public, s.withLogins} {
		if one != nil {
			do(one)
		}
	}
}

// Close closes the stores. It may be called on a nil Stores.
func (s *Stores) Close() { s.Each((*Store).Close) }

// ForCheckout returns the store for the repository of a checkout. It returns nil if there are no registries.
func (s *Stores) ForCheckout(ctx context.Context, checkout string) *Store {
	if s == nil {
		return nil
	}
	if s.MayUseLogins(ctx, checkout) {
		return s.withLogins
	}
	return s.public
}

// MayUseLogins reports whether the repository of a checkout may use the operator's logins.
func (s *Stores) MayUseLogins(ctx context.Context, checkout string) bool {
	return s != nil && s.withLogins != nil && s.mayUseLogins != nil && s.mayUseLogins(ctx, checkout)
}

// Public returns the store for every repository. It returns nil for a nil Stores.
func (s *Stores) Public() *Store {
	if s == nil {
		return nil
	}
	return s.public
}

// WithLogins returns the store that sends the operator's logins. It returns nil if no login gives access to more, or
// for a nil Stores.
func (s *Stores) WithLogins() *Store {
	if s == nil {
		return nil
	}
	return s.withLogins
}
