#include <cstdint>
// A: leave by a taken branch in the middle
extern "C" __global__ void a_mid(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; float x=0; int i=0;
  #pragma unroll 1
  for(;;){ x=x*1.5f+1.0f; if(i>=t) break; i++; x+=2.0f; asm volatile("":"+f"(x)); if(i==64) break; }
  out[threadIdx.x]=i+(x>3);
}
// B: leave by falling through the back branch
extern "C" __global__ void b_back(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; float x=0; int i=0;
  #pragma unroll 1
  do { x=x*1.5f+1.0f; asm volatile("":"+f"(x)); i++; } while(i<=t);
  out[threadIdx.x]=i+(x>3);
}
// C: if/else of unequal length, then if inside
extern "C" __global__ void c_ifelse(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; uint32_t r=t;
  if(t&1){ for(int k=0;k<3;k++){ asm volatile("mul.lo.u32 %0,%0,%0; add.u32 %0,%0,7;":"+r"(r)); } if(t&2){ asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+64+threadIdx.x):"memory"); r*=5;} else { asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+96+threadIdx.x):"memory"); r*=9; } }
  else { asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+128+threadIdx.x):"memory"); r+=13; if(t&4){ asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+160+threadIdx.x):"memory"); r^=11; } }
  out[threadIdx.x]=r;
}
// D: nested loops, break of the outer from the inner, continue
extern "C" __global__ void d_nest(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; uint32_t r=t;
  #pragma unroll 1
  for(int i=0;i<=t;i++){
    #pragma unroll 1
    for(int j=0;j<(int)((r>>i)&7);j++){ asm volatile("mul.lo.u32 %0,%0,3;":"+r"(r)); if((r&63)==33) goto done; if((r&15)==9) break; asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+64+threadIdx.x):"memory");}
    r+=i;
    if(r&1) continue;
    asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+96+threadIdx.x):"memory");
    r+=3;
  }
done:
  out[threadIdx.x]=r;
}
// E: switch
extern "C" __global__ void e_switch(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; uint32_t r=t;
  switch(t){
   case 0: asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+64+threadIdx.x):"memory"); r+=1; break;
   case 1: asm volatile("mul.lo.u32 %0,%0,3; st.global.u32 [%1], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); r+=2; break;
   case 2: asm volatile("mul.lo.u32 %0,%0,5; add.u32 %0,%0,9; st.global.u32 [%1], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory");
   case 3: asm volatile("mul.lo.u32 %0,%0,6; st.global.u32 [%1], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); r*=2; break;
   case 4: asm volatile("mul.lo.u32 %0,%0,7; st.global.u32 [%1+4], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); r*=4; break;
   case 5: asm volatile("mul.lo.u32 %0,%0,8; st.global.u32 [%1+4], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); r*=6; break;
   case 6: asm volatile("mul.lo.u32 %0,%0,9; st.global.u32 [%1+4], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); r*=8; break;
   case 7: asm volatile("mul.lo.u32 %0,%0,10; st.global.u32 [%1+4], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); r*=9; break;
   default: asm volatile("st.global.u32 [%1+8], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); r*=11;
  }
  out[threadIdx.x]=r;
}
// ---- more shapes ----
__device__ __noinline__ uint32_t leaf(uint32_t r, int n){
  #pragma unroll 1
  for(int i=0;i<n;i++){ asm volatile("mad.lo.u32 %0,%0,5,3;":"+r"(r)); if((r&31)==7) return r+1; }
  return r*3;
}
extern "C" __global__ void f_call(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; uint32_t r=t;
  if(t&1) r=leaf(r,t&15); else if(t&2) r+=leaf(r*7,3);
  #pragma unroll 1
  for(int i=0;i<(t&7);i++) r=leaf(r+i,i);
  out[threadIdx.x]=r;
}
extern "C" __global__ void g_exit(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; uint32_t r=t;
  if(t==0) return;
  #pragma unroll 1
  for(int i=0;i<t;i++){ asm volatile("mad.lo.u32 %0,%0,5,3;":"+r"(r)); if((r&31)==7) return; if((r&7)==3){ asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+64+threadIdx.x):"memory"); continue;} r^=r>>3; asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+96+threadIdx.x):"memory");}
  out[threadIdx.x]=r;
}
extern "C" __global__ void h_sync(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; uint32_t r=t;
  #pragma unroll 1
  for(int i=0;i<4;i++){
    if(r&1){ asm volatile("mad.lo.u32 %0,%0,5,3; st.global.u32 [%1], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); }
    else if(r&2) { asm volatile("mad.lo.u32 %0,%0,3,1; st.global.u32 [%1+4], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); }
    __syncwarp();
    r+=__shfl_xor_sync(~0u,r,1<<i);
    if(__any_sync(~0u,(r&63)==5)) r+=3;
  }
  out[threadIdx.x]=r;
}
extern "C" __global__ void i_three(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; uint32_t r=t;
  #pragma unroll 1
  for(int i=0;i<=(t&7);i++){
    #pragma unroll 1
    for(int j=0;j<=((t>>i)&3);j++){
      #pragma unroll 1
      for(int k=0;k<=((t>>j)&3);k++){ asm volatile("mad.lo.u32 %0,%0,5,3;":"+r"(r)); if((r&127)==77) goto out2; if((r&31)==5) goto out1; }
      asm volatile("st.global.u32 [%1+4], %0;"::"r"(r),"l"(out+64+threadIdx.x):"memory");
    }
    out1: r+=9;
  }
  out2:
  out[threadIdx.x]=r;
}
extern "C" __global__ void j_while(const int* trips, uint32_t* out){
  uint32_t n=trips[threadIdx.x]+1+threadIdx.x*3; uint32_t s=0;
  while(n!=1 && s<500){ if(n&1){ n=3*n+1; asm volatile("st.global.u32 [%1+4], %0;"::"r"(n),"l"(out+64+threadIdx.x):"memory"); } else n>>=1; s++; if(s%16==9 && (n&4)) break; }
  out[threadIdx.x]=s*1000+n;
}
extern "C" __global__ void k_rec(const int* trips, uint32_t* out){
  // an explicit stack: data-dependent loops with shared pushes and pops
  uint32_t st[16]; int sp=0; uint32_t sum=0; st[sp++]=trips[threadIdx.x]&15;
  while(sp>0){ uint32_t v=st[--sp]; sum+=v; if(v>1 && sp<14){ st[sp++]=v-1; if(v&1) st[sp++]=v>>1; } }
  out[threadIdx.x]=sum;
}
extern "C" __global__ void l_cas(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; uint32_t r=t;
  if(t&1) { do { r=r*5+1; asm volatile("":"+r"(r)); if((r&15)==3) break; } while((r&7)!=6); }
  if(t&4 && (r&1 || t&8)) { asm volatile("st.global.u32 [%1+4], %0;"::"r"(r),"l"(out+64+threadIdx.x):"memory"); r++; }
  out[threadIdx.x]=r;
}

// Warp-wide synchronisation in both arms, then by half a warp, with shuffles.
extern "C" __global__ void m_syncs(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; uint32_t r=t;
  if(t&1){ asm volatile("mad.lo.u32 %0,%0,5,3; st.global.u32 [%1], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); __syncwarp(); r*=3; asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+96+threadIdx.x):"memory"); }
  else { r+=7; __syncwarp(); asm volatile("mad.lo.u32 %0,%0,3,1; st.global.u32 [%1+4], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); }
  unsigned half = threadIdx.x & 16 ? 0xffff0000u : 0xffffu;
  if(threadIdx.x & 16){ r+=__shfl_xor_sync(half,r,3); if(t&2){ asm volatile("st.global.u32 [%1], %0;"::"r"(r),"l"(out+128+threadIdx.x):"memory"); } __syncwarp(half); r+=__shfl_xor_sync(half,r,5); }
  else { r+=__shfl_xor_sync(half,r,1); r=__reduce_add_sync(half,r); }
  out[threadIdx.x]=r;
}
// A loop with a synchronisation that lanes leave, one by one.
extern "C" __global__ void n_loop_sync(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]&15; uint32_t r=t;
  unsigned live=~0u;
  #pragma unroll 1
  for(int i=0;i<16;i++){
    live=__ballot_sync(live, i<=t);
    if(i>t) break;
    if((r^i)&1) { asm volatile("mad.lo.u32 %0,%0,5,3; st.global.u32 [%1], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); }
    r+=__shfl_sync(live,r,threadIdx.x+1);
  }
  out[threadIdx.x]=r;
}
// Block barriers in both arms of a branch.
extern "C" __global__ void o_barriers(const int* trips, uint32_t* out){
  int t=trips[threadIdx.x]; uint32_t r=t;
  if(t&1){ asm volatile("mad.lo.u32 %0,%0,5,3; st.global.u32 [%1], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); asm volatile("barrier.sync 0;":::"memory"); r*=3; }
  else { r+=7; asm volatile("barrier.sync 0;":::"memory"); if(t&2) asm volatile("mad.lo.u32 %0,%0,3,1; st.global.u32 [%1+4], %0;":"+r"(r):"l"(out+64+threadIdx.x):"memory"); }
  __syncthreads();
  out[threadIdx.x]=r;
}
