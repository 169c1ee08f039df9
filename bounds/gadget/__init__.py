"""Claims of GADGET (Yu, Tian, Ji, Wu, Rajan, Liu), and the instances they are checked on."""
