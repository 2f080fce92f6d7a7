package toolproto

// Broken is a toolbox that does not answer as it should: the link is gone, or
// it carried no answer. It is a fault of the container, never a result for the
// model. Work goes on in a new container from the last push.
//
// The protocol's types are plain strings and its errors its own, so that the
// program inside the containers does not link the domain: its hash names
// images, and must not change with every rule of the company.
type Broken struct {
	Tool string
	Err  error
}

func (b *Broken) Error() string {
	return b.Tool + ": the worker's container does not answer as it should: " + b.Err.Error()
}

func (b *Broken) Unwrap() error { return b.Err }
