package sandbox

// ServeOn puts the gateway of a factory's sandboxes on another port: containers
// that share the test's network need one each.
func (s *Factory) ServeOn(port int) { s.port = port }
