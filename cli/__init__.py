"""The command `dlsched`: thin, every verb calls one function of a room to the left."""
