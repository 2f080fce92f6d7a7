package sandbox

// ServeOn puts the gateway of a factory's sandboxes on another port: containers
// that share the test's network need one each.
func (s *Factory) ServeOn(port int) { s.port = port }

// BakeIn says where the images of a factory have the history: images of tests are no images.
func (s *Factory) BakeIn(path string) { s.baked = path }
