package depproxy

import "context"

// Stores are the operator's registries as every repository may have them, and
// as those repositories may that the operator lets use the logins. They share
// no cache: a file that was fetched by a login is found by no other repository.
type Stores struct {
	public, withLogins *Store
	mayUseLogins       func(ctx context.Context, checkout string) bool
}

// OpenStores opens the caches below dir. hosts are those whose login serves
// every repository; may says whether the repository of a checkout may use the
// others.
func OpenStores(dir string, up Upstreams, hosts []string, may func(ctx context.Context, checkout string) bool) (*Stores, error) {
	all := up.WithoutLogins(hosts)
	open, err := Open(dir, all)
	if err != nil {
		return nil, err
	}
	s := &Stores{public: open, mayUseLogins: may}
	if !all.withholdsAny() {
		return s, nil
	}
	if s.withLogins, err = Open(dir+"-by-login", up); err != nil {
		open.Close()
		return nil, err
	}
	return s, nil
}

// NewSingleStore is a store that serves every repository alike.
func NewSingleStore(s *Store) *Stores { return &Stores{public: s} }

// Each calls do for every store. A nil Stores, of an office without registries, has none.
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

// ForCheckout is the store for the repository of a checkout; nil where there are no
// registries.
func (s *Stores) ForCheckout(ctx context.Context, checkout string) *Store {
	if s == nil {
		return nil
	}
	if s.MayUseLogins(ctx, checkout) {
		return s.withLogins
	}
	return s.public
}

// MayUseLogins says whether the repository of a checkout gets what others do not.
func (s *Stores) MayUseLogins(ctx context.Context, checkout string) bool {
	return s != nil && s.withLogins != nil && s.mayUseLogins != nil && s.mayUseLogins(ctx, checkout)
}

// Public is the store for every repository, and WithLogins the one for those that
// may use the operator's logins: nil where no login leads to more. Both may be
// asked of nil Stores.
func (s *Stores) Public() *Store {
	if s == nil {
		return nil
	}
	return s.public
}

// WithLogins is the store that sends the operator's logins.
func (s *Stores) WithLogins() *Store {
	if s == nil {
		return nil
	}
	return s.withLogins
}
