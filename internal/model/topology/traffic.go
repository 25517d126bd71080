package topology

// Traffic is what the nodes send per generated token, and once at the start.
type Traffic struct {
	RootPerToken   int64 `json:"rootPerToken"`   // bytes the root sends
	WorkerPerToken int64 `json:"workerPerToken"` // bytes each worker sends
	TotalPerToken  int64 `json:"totalPerToken"`  // bytes all nodes send
	// Shipping is what the root sends to the workers at every start: their
	// slices of the weights, and norms and routers whole.
	Shipping int64 `json:"shipping"`
}

// controlPacket is sent by the root to each worker before each step.
const controlPacket = 8

func (s Shape) traffic(n int, sync FloatType) Traffic {
	others := int64(n - 1)
	if others == 0 {
		return Traffic{}
	}
	dim := int64(s.Dim)
	synced := 2 * int64(s.Layers) * others * sync.Bytes(dim)
	t := Traffic{
		RootPerToken:   synced + others*(4*dim+controlPacket),
		WorkerPerToken: synced + 4*int64(s.VocabSize)/int64(n),
	}
	t.TotalPerToken = t.RootPerToken + others*t.WorkerPerToken
	for i := 1; i < n; i++ {
		t.Shipping += s.memory(i, n, 1, 1, sync).Weights
	}
	return t
}
