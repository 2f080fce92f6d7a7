package company

// Dependency is one package of a registry. Its grammar is the ecosystem's own
// and is checked where registries are known.
type Dependency struct {
	Ecosystem string `json:"ecosystem"` // go | npm | pypi | crates
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"`
}

func (d Dependency) String() string {
	if d.Version == "" {
		return d.Ecosystem + " " + d.Name
	}
	return d.Ecosystem + " " + d.Name + "@" + d.Version
}
