package registry

import "context"

// Stores are the operator's registries as every repository may have them, and
// as those repositories may that the operator lets use the logins. They share
// no cache: what was fetched by a login is found by nobody else.
type Stores struct {
	open, logins *Store
	may          func(ctx context.Context, checkout string) bool
}

// OpenStores opens the caches below dir. hosts are those whose login serves
// every repository; may says whether the repository of a checkout may use the
// others.
func OpenStores(dir string, up Upstreams, hosts []string, may func(ctx context.Context, checkout string) bool) (*Stores, error) {
	all := up.Open(hosts)
	open, err := Open(dir, all)
	if err != nil {
		return nil, err
	}
	s := &Stores{open: open, may: may}
	if !all.leavesOut() {
		return s, nil
	}
	if s.logins, err = Open(dir+"-by-login", up); err != nil {
		open.Close()
		return nil, err
	}
	return s, nil
}

// OneStore is a store that serves every repository alike.
func OneStore(s *Store) *Stores { return &Stores{open: s} }

// Each calls do for every store.
func (s *Stores) Each(do func(*Store)) {
	for _, one := range []*Store{s.open, s.logins} {
		if one != nil {
			do(one)
		}
	}
}

// Close closes the stores.
func (s *Stores) Close() { s.Each((*Store).Close) }

// For is the store for the repository of a checkout; nil where there are no
// registries.
func (s *Stores) For(ctx context.Context, checkout string) *Store {
	if s == nil {
		return nil
	}
	if s.May(ctx, checkout) {
		return s.logins
	}
	return s.open
}

// May says whether the repository of a checkout gets what others do not.
func (s *Stores) May(ctx context.Context, checkout string) bool {
	return s != nil && s.logins != nil && s.may != nil && s.may(ctx, checkout)
}

// Open is the store for every repository, and ByLogin the one for those that
// may use the operator's logins: nil where no login leads to more. Both may be
// asked of nil Stores.
func (s *Stores) Open() *Store {
	if s == nil {
		return nil
	}
	return s.open
}

// ByLogin: see Open.
func (s *Stores) ByLogin() *Store {
	if s == nil {
		return nil
	}
	return s.logins
}
