package sandbox

// ServeOn puts the gateway of a shop's benches on another port: containers that
// share the test's network need one each.
func (s *Factory) ServeOn(port int) { s.port = port }
