package repomap

import (
	"context"
	"sync"

	"company/internal/company"
	"company/internal/gitops"
)

// mostCached limits the number of cached maps.
const mostCached = 8

// Cache keeps the most recently used maps of trees. The zero value is ready to use, and it is safe for
// concurrent use.
type Cache struct {
	mu    sync.Mutex
	known []cached // the most recently used map is last
}

// cached is a map without the recent changes, which depend on the commit.
type cached struct {
	tree company.OID
	tell *Map
}

// Read returns the map of a commit. The part that depends only on its tree is cached.
func (c *Cache) Read(ctx context.Context, mirror *gitops.Mirror, at company.OID) (*Map, error) {
	tree, err := mirror.Tree(ctx, at)
	if err != nil {
		return nil, err
	}
	return readMap(ctx, mirror, at, func() (*Map, error) {
		if known := c.findMap(tree); known != nil {
			return known, nil
		}
		known, err := readTree(ctx, mirror, at)
		if err == nil {
			c.keepMap(tree, known)
		}
		return known, err
	})
}

func (c *Cache) findMap(tree company.OID) *Map {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, cached := range c.known {
		if cached.tree == tree {
			c.known = append(append(c.known[:i:i], c.known[i+1:]...), cached)
			return cached.tell
		}
	}
	return nil
}

func (c *Cache) keepMap(tree company.OID, m *Map) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known = append(c.known, cached{tree, m}); len(c.known) > mostCached {
		c.known = c.known[1:]
	}
}
