package toolproto

// Broken is the error of a toolbox that does not answer properly: the link is gone, or it carried no valid answer. It
// is a fault of the container, never a result for the model. Work continues in a new container from the last push.
//
// The protocol uses plain strings and its own errors, so that the program inside containers does not link the domain.
// Its hash is part of image names, and must not change with every rule of the company.
type Broken struct {
	Tool string
	Err  error
}

func (b *Broken) Error() string {
	return b.Tool + ": the worker's container does not answer as it should: " + b.Err.Error()
}

func (b *Broken) Unwrap() error { return b.Err }
