package repomap

import (
	"context"
	"sync"

	"company/internal/company"
	"company/internal/gitops"
)

// mostCached bounds the maps that are kept: those of some tasks at work.
const mostCached = 8

// Cache keeps the maps of the trees that were asked for last. Its zero value is ready, and
// it may be used from several goroutines.
type Cache struct {
	mu    sync.Mutex
	known []cached // the last used one last
}

// cached is a map without the recent past, which follows from the commit.
type cached struct {
	tree company.OID
	tell *Map
}

// Read is the map of a commit. What follows from its tree is made once.
func (c *Cache) Read(ctx context.Context, m *gitops.Mirror, at company.OID) (*Map, error) {
	tree, err := m.Tree(ctx, at)
	if err != nil {
		return nil, err
	}
	return readMap(ctx, m, at, func() (*Map, error) {
		if known := c.findMap(tree); known != nil {
			return known, nil
		}
		known, err := readTree(ctx, m, at)
		if err == nil {
			c.keepMap(tree, known)
		}
		return known, err
	})
}

func (c *Cache) findMap(tree company.OID) *Map {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, k := range c.known {
		if k.tree == tree {
			c.known = append(append(c.known[:i:i], c.known[i+1:]...), k)
			return k.tell
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
